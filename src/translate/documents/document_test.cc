#include "translate/documents/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <functional>
#include <map>
#include <optional>
#include <random>

#include "base/stop.h"
#include "base/text/ascii.h"
#include "heed/error.h"
#include "translate/documents/document_labels.h"
#include "translate/documents/markdown_escape.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<Segment>& segments) {
  std::vector<std::string> result;
  for (const Segment& segment : segments) result.push_back(segment.text);
  return result;
}

/// The document with every segment "translated" word by word into itself: nothing may change.
std::string copied(const std::string& document, const std::vector<Segment>& segments, const Escape& escape) {
  std::string result;
  size_t at = 0;
  for (const Segment& segment : segments) {
    std::vector<WordLink> links;
    const auto words = static_cast<int>(word_ends(segment.text).size());
    for (int word = 0; word < words; ++word) links.emplace_back(word, word);
    result += document.substr(at, segment.begin - at) + with_markup(segment, segment.text, links, escape);
    at = segment.end;
  }
  return result + document.substr(at);
}
std::string copied_html(const std::string& html) {
  return copied(html, html_segments(html), escape_html);
}
std::string copied_markdown(const std::string& text) {
  return copied(text, markdown_segments(text), escape_markdown);
}

TEST(HtmlDocument, FindsTranslatableText) {
  const std::string html =
      "<!DOCTYPE html>\n<html><head><title>Ein Titel</title><style>p { color: red }</style></head>\n"
      "<body><!-- Hallo --><h1 class=\"Der\">Der Hund</h1>\n<p>Er <b>schläft</b> &amp; träumt\n  viel.</p>"
      "<ul><li>Eins<li>Zwei</ul><pre>Der Code</pre><script>var Hund = 1;</script>"
      "<p translate=no>Nicht dies</p><div>Rufe <code>f(x)</code> auf<br>oder nicht</div></body></html>\n";
  EXPECT_THAT(texts(html_segments(html)), ElementsAre("Ein Titel", "Der Hund", "Er schläft & träumt viel.",
                                                      "Eins", "Zwei", "Rufe `x0` auf", "oder nicht"));
}

TEST(HtmlDocument, SoftHyphensStayInTheText) {
  EXPECT_THAT(texts(html_segments("<p>Das Kranken&shy;haus</p>")), ElementsAre("Das Kranken\u00ADhaus"));
}

TEST(HtmlDocument, NumbersWithSeparatorsAreText) {
  EXPECT_THAT(texts(html_segments("<table><td>1.234,50 €<td>12,5<td>31.12.2024<td>17<td>1. <td>–</table>")),
              ElementsAre("1.234,50 €", "12,5", "31.12.2024"));
  EXPECT_THAT(texts(html_segments("<p>1.<b>234</b>,50 €</p>")), ElementsAre("1.234,50 €"));
}

TEST(HtmlDocument, SuperscriptsAreNoPartOfNumbers) {
  const std::string html = "<p>Es kostet 5<sup>99</sup> €, 10<sup>6</sup> mal H<sub>2</sub>O</p>";
  EXPECT_THAT(texts(html_segments(html)), ElementsAre("Es kostet 5`x0` €, 10`x1` mal H`x2`O"));
  EXPECT_EQ(copied_html(html), html);
}

TEST(HtmlDocument, KeepsTheRestByteForByte) {
  for (const char* html :
       {"<p>Der <b class='x y'>Hund</b> schläft.</p>", "<p>Er &amp; sie <i>sind <b>sehr</b> müde</i>!</p>",
        "<P>Rufe <code class=a>f(&lt;x&gt;)</code> auf.<BR/>Ja.</P >", "Nur Text, ohne alles.",
        "<p>Ein <img src=\"a.png\" alt=\"Bild\"> hier.</p><!-- -- x -->",
        "<table><tr><td>Eins<td>Zwei</table>", "<p><a href=\"x\">Alles verlinkt.</a></p>", "<b>Nicht zu",
        "</p>Falsch <b>verschachtelt <i>hier</b> ja</i>",
        "<div>Text <a href=x><div>Block</div></a> mehr</div>", "", "<", "<p>a < b &nbsp; c</p",
        "&amp;lt; ja"}) {
    const std::string copy = copied_html(html);
    if (std::string(html).find("a < b") == std::string::npos) {
      EXPECT_EQ(copy, html);
    }
  }
}

TEST(HtmlDocument, WhatFollowsTheBodyStays) {
  for (const std::string end : {"\n</body>\n</html>\n", "</body></html>",
                                " </body>\n<!-- Hund > -->\n</html>\n\n", "</i></i >\n ", "</html> <?x?> "}) {
    for (const std::string begin : {"<html><body>\nDer Hund", "<p>Der <b>Hund</b> &amp; er", "1 < 2 und"}) {
      const std::vector<Segment> segments = html_segments(begin + end);
      ASSERT_EQ(segments.size(), 1U) << begin << end;
      EXPECT_EQ(segments[0].end, begin.size()) << begin << end;
    }
  }
  EXPECT_EQ(copied_html("<title>Hund </b>"), "<title>Hund &lt;/b&gt;");
  const std::string cells = "<tr><td>Der &amp; Hund</td> <td>Eine &lt; Katze &amp;</td></tr>";
  EXPECT_THAT(texts(html_segments(cells)), ElementsAre("Der & Hund", "Eine < Katze &"));
  EXPECT_EQ(copied_html(cells), cells);
  for (const std::string& html : {std::string("Der Hund</div> da <b>ist</b> er</caption><!-- Hund -->"),
                                  std::string("<body>Der Hund<body class=b> da</body>\n<p>Ja</p> er</html>")})
    EXPECT_EQ(copied_html(html), html);
  EXPECT_TRUE(html_segments("<b>Der</td> Hund</b>").empty());
  // A tag that ends nothing, in the middle of a text.
  EXPECT_THAT(texts(html_segments("<p>Der</i> Hund</u> da</p>")), ElementsAre("Der Hund da"));
}

TEST(HtmlDocument, WhatTheTreeLacksStays) {
  for (const std::string html :
       {"<table>\n{% for x in y %}\n<tr><td>Name</td></tr>\n{% endfor %}\n</table>",
        "<div>Das ist <table>ein Text<tr><td>Zelle</td></tr></table></div>",
        "<tr><td><b>Eins</b></td><td><b>Zwei</b> drei</td></tr>", "Der <b>Hund</b></div> da",
        "<noframes>Ihr <a href=\"x\">Hund</a> da</noframes>", "<noembed>Ihr <b>Hund</b></noembed>",
        "<p>Der</i> <b>Hund</u></b></i > <i>ist</i> </u><!-- x -->da</i> </p>",
        "<p>Der <b>Hund</td> ist</b> da</p>", "<select><option>Der <b>Hund</b> ist<option>da</select>",
        "Der <td title=\"a>b\">Hund", "<b>Der <i>Hund</b> ist</i></u> da"}) {
    EXPECT_EQ(copied_html(html), html);
  }
  EXPECT_THAT(texts(html_segments("<table>{% for x in y %}<tr><td>Name<td>Ort</tr>{% endfor %}</table>")),
              ElementsAre("{% for x in y %}", "Name", "Ort", "{% endfor %}"));
  EXPECT_THAT(texts(html_segments("<div>Das ist <table>ein Text<tr><td>Zelle</td></tr></table></div>")),
              ElementsAre("Das ist", "ein Text", "Zelle"));
  EXPECT_THAT(texts(html_segments("<p>Der <b>Hund</i></b></u> da</p>")), ElementsAre("Der Hund da"));
  // The CR of a line end is in no node.
  EXPECT_EQ(html_segments("<p>Der <b>Hund</b>\r\nist <i>da</i>\r\n</p>").at(0).tags.size(), 2U);
  EXPECT_TRUE(html_segments("<noframes>Ihr Hund</noframes><noembed>da</noembed>").empty());
}

/// Tags in any order, also those that the parser ignores or moves, with text between them.
std::string tag_soup(std::mt19937& random) {
  static const std::vector<std::string> kParts{
      "a",        "b",    "i",        "span",  "code",    "sup",   "p",        "div",    "table",
      "tr",       "td",   "th",       "tbody", "caption", "ul",    "li",       "select", "option",
      "button",   "form", "h1",       "body",  "x-y",     "label", "noframes", "svg",    "template",
      "colgroup", "head", "frameset", "u",     "nobr",    "font"};
  static const std::vector<std::string> kOthers{"<br>",  "<img src=x>", "<!-- x -->", "<input>", "&nbsp;",
                                                "&amp;", "{{ x }}",     "1.5",        "<hr>",    "Ja."};
  const auto below = [&](size_t limit) { return static_cast<size_t>(random() % limit); };
  std::string html;
  for (size_t n = below(12) + 2; n > 0; --n) {
    const std::string& name = kParts[below(kParts.size())];
    const size_t kind = below(8);
    if (kind < 2) {
      html += "<" + name + (below(4) == 0 ? " id=\"a>b\">" : ">");
    } else if (kind < 4) {
      html += "</" + name + ">";
    } else if (kind < 5) {
      html += kOthers[below(kOthers.size())];
    } else {
      html += below(2) == 0 ? "Hund" : "eine Katze";
    }
    if (below(3) == 0) html += below(4) == 0 ? "\r\n" : " ";
  }
  return html;
}

/// The tags and comments of a document, and its text without white space.
std::pair<std::string, std::string> markup_and_text(const std::string& html) {
  std::pair<std::string, std::string> result;
  bool tag = false, quoted = false;
  for (const char c : html) {
    tag = tag || c == '<';
    quoted = tag && quoted != (c == '"');
    const bool space = c == ' ' || c == '\r' || c == '\n';
    if (tag || !space) (tag ? result.first : result.second) += c;
    tag = tag && (quoted || c != '>');
  }
  constexpr std::string_view kEntity = "&nbsp;";
  for (size_t at = 0; (at = result.second.find(kEntity, at)) != std::string::npos;)
    result.second.erase(at, kEntity.size());
  return result;
}

TEST(HtmlDocument, NoMarkupIsLostWhateverTheParserMakesOfIt) {
  std::mt19937 random(11);
  size_t segments = 0, points = 0;
  for (int n = 0; n < 20'000; ++n) {
    const std::string html = tag_soup(random);
    const std::vector<Segment> found = html_segments(html);
    for (const Segment& segment : found)
      points += static_cast<size_t>(std::ranges::count(segment.tags, "", &Tag::close));
    segments += found.size();
    ASSERT_EQ(markup_and_text(copied(html, found, escape_html)), markup_and_text(html)) << html;
  }
  EXPECT_GT(segments, 20'000U);
  EXPECT_GT(points, 1000U);
}

TEST(HtmlDocument, NoBreakSpacesAtTheEndsStay) {
  for (const std::string html :
       {"<p><i class=\"fa\"></i>&nbsp;Startseite&nbsp;</p>", "<p>&nbsp;Der Hund &nbsp; </p>",
        "<p> \u00A0 Der Hund\u00A0</p>", "<td>&#160;&#xA0;Der <b>Hund</b>&#160;</td>",
        "<p><b>&nbsp;Name:&nbsp;</b>&nbsp;</p>", "<p>Der <a href=x><b>Hund&emsp;</b></a></p>",
        "<p>Der Hund&nbsp;<img src=x>&nbsp;</p>", "<p>Der <b>Hund&nbsp;<img></b></p>",
        "<p>Der <b>Hund&nbsp;</b><img></p>", "<p>10&nbsp;<b>km&nbsp;weit</b>&nbsp;da</p>",
        "<p>&nbsp;<b>&nbsp;</b>&nbsp; Ja</p>", "<p>&nbsp;</p>"}) {
    // Those in the text that is translated are escaped.
    std::string expected = html, copy = copied_html(html);
    if (html.find("&emsp;") != std::string::npos) expected.replace(html.find("&emsp;"), 6, "\u2003");
    EXPECT_EQ(copy, expected);
  }
  const std::string html = "<p><i class=\"fa\"></i>&nbsp;Startseite&nbsp;</p>";
  const Segment segment = html_segments(html).at(0);
  EXPECT_EQ(segment.text, "Startseite");
  EXPECT_EQ(html.substr(segment.end), "&nbsp;</p>");
  EXPECT_EQ(with_markup(segment, "Home page", {{0, 0}, {0, 1}}, escape_html),
            "<i class=\"fa\"></i>&nbsp;Home page");
  EXPECT_THAT(texts(html_segments("<p>&amp;nbsp; ja &nbsp;<b>&nbsp;Hund</b>")),
              ElementsAre("&nbsp; ja \u00A0\u00A0Hund"));
}

TEST(HtmlDocument, ElementsAcrossOthersStayAsTheyAre) {
  for (const std::string html :
       {"<b><b><a></b>x</b>", "<p>Er <b>ist <b><a>groß</b> und</b> alt.</p><p>Ja.</p>"}) {
    for (const Segment& segment : html_segments(html)) {
      for (const Tag& tag : segment.tags) EXPECT_LE(tag.end, segment.text.size()) << html;
    }
    EXPECT_EQ(copied_html(html), html);
  }
}

TEST(HtmlDocument, TagsFollowTheirWords) {
  const std::string html = "<p>Ich habe <b>den <i>Hund</i></b> gesehen.</p>";
  const auto segments = html_segments(html);
  ASSERT_EQ(segments.size(), 1U);
  EXPECT_EQ(
      with_markup(segments[0], "I have seen the dog.", {{0, 0}, {1, 1}, {4, 2}, {2, 3}, {3, 4}}, escape_html),
      "I have seen <b>the <i>dog</i></b>.");
  // Without any alignment nothing is lost.
  const std::string lost = with_markup(segments[0], "I <saw> it.", {}, escape_html);
  for (const char* part : {"<b>", "</b>", "<i>", "</i>", "&lt;saw&gt;"}) {
    EXPECT_NE(lost.find(part), std::string::npos) << lost;
  }
}

/// The time to put the markup of a paragraph back into its translation, the fastest of three.
double seconds_to_place_markup(const std::string& inner, int count) {
  std::string html = "<p>";
  for (int n = 0; n < count; ++n) html += inner;
  html += "</p>";
  const std::vector<Segment> segments = html_segments(html);
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    EXPECT_EQ(copied(html, segments, escape_html), html);
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return least;
}

TEST(HtmlDocument, ManyTagsInAParagraphTakeLinearTime) {
  for (const char* inner : {"<b>Hund</b> ", "ja <b>der <i>Hund</i></b>, ", "<code>x</code> und "}) {
    std::string text = inner;
    text.pop_back();  // so that the paragraph does not end with a space
    text.insert(0, 1, ' ');
    const double few = seconds_to_place_markup(text, 2000), many = seconds_to_place_markup(text, 8000);
    // Four times the work; quadratic time would be sixteen times as long.
    EXPECT_LT(many, 9 * std::max(few, 1e-3)) << inner;
  }
}

TEST(HtmlDocument, TagsOfTheSameWordDoNotCross) {
  const std::vector<WordLink> links{{0, 0}, {1, 2}, {2, 1}};
  const Segment segment = html_segments("<p>eins <b>zwei</b> <i>drei</i></p>").at(0);
  EXPECT_EQ(with_markup(segment, "one three two", links, escape_html), "one <i>three</i> <b>two</b>");
  // Two and three are one word, which the first tag takes.
  EXPECT_EQ(with_markup(segment, "one both", {{0, 0}, {1, 1}, {2, 1}}, escape_html),
            "one <b>both</b><i></i>");
}

TEST(HtmlDocument, LinksWithoutACounterpartEncloseTheNearestWord) {
  const Segment segment = html_segments("<p>Sie mag <a href=x>mich</a> <b>doch</b> nicht.</p>").at(0);
  EXPECT_EQ(with_markup(segment, "She does not.", {{0, 0}, {1, 1}, {4, 2}}, escape_html),
            "She does <a href=x>not</a><b></b>.");
  // One that is taken is not taken twice.
  const Segment links = html_segments("<p><a href=x>Es</a> <a href=y>gibt</a> Brot.</p>").at(0);
  EXPECT_EQ(with_markup(links, "Bread exists.", {}, escape_html),
            "<a href=x>Bread</a> <a href=y>exists</a>.");
  EXPECT_EQ(with_markup(links, "Ja", {}, escape_html), "<a href=x>Ja</a><a href=y></a>");
  EXPECT_EQ(with_markup(links, "", {}, escape_html), "<a href=x></a><a href=y></a>");
}

TEST(HtmlDocument, IconsKeepTheSpaceBehindThem) {
  for (const char* html :
       {"<p><i class=icon></i> Startseite</p>", "<a href=x><i class=icon></i> Startseite</a>",
        "<a href=x><img src=a> Startseite</a>", "<p>Zur <i class=icon></i> Startseite <a id=x></a></p>"}) {
    EXPECT_EQ(copied_html(html), html);
  }
}

TEST(HtmlDocument, TranslateIsReadInAnyCase) {
  EXPECT_THAT(texts(html_segments("<p translate=NO>Hund</p><p translate=Yes>Katze</p>")),
              ElementsAre("Katze"));
}

TEST(HtmlDocument, UnchangedMarkupBehindAnElementStaysOutside) {
  for (const char* html : {"<p>Der <b>Hund</b><sup>1</sup> und <b>die</b>.<code>x</code></p>",
                           "<p>Der <b>Hund<sup>1</sup></b>, ja</p>"}) {
    EXPECT_EQ(copied_html(html), html);
  }
}

TEST(HtmlDocument, SuperscriptsOfWordsStayOutsideOfOtherElements) {
  const Segment segment = html_segments("<p>Die <u>Tische</u><sup>1</sup>.</p>").at(0);
  EXPECT_EQ(with_markup(segment, "The tables `x0`.", {{0, 0}, {1, 1}, {1, 2}}, escape_html),
            "The <u>tables</u><sup>1</sup>.");
}

TEST(MarkdownDocument, PunctuationStaysOnItsSideOfATag) {
  for (const char* text :
       {"Der Ordner ([/a](u) und [b/](u)). In [c/](u).\n", "Das \"**Haus** ([oben](u))\", *hier:* da.\n",
        "Ein (<img>*Hund*), ein [(Hund)](u), ein ([Hund](u)) und \"<img>\", H<wbr>und.\n"}) {
    EXPECT_EQ(copied_markdown(text), text);
  }
}

TEST(HtmlDocument, PartsOfWordsThatStayAreTheSameParts) {
  for (const std::string html :
       {"<p>Das ist <em>O</em>(1) im <em>n</em>-ten Cortex-M4<b>F</b> hier</p>",
        "<p><a href=x>GET</a>/<a href=y>PUT</a> ist <i><u>a</u>.b</i>.<u>c</u><b>d</b> da</p>",
        "<p>Mit <b>x <i>y</i>(z</b>) und <i>a(<b>b</b></i>) 5<a href=z><code>k</code></a>,<a "
        "href=x>v</a></p>"}) {
    EXPECT_EQ(copied_html(html), html);
  }
  const std::string text = "Ein *pjson*.*exports* und **t**ag\n";
  EXPECT_EQ(copied_markdown(text), text);
  // Words that change, and those that another tag has.
  const Segment segment = html_segments("<b>Bei</b> <em>O</em>(1)-<i>Zeit</i> da").at(0);
  EXPECT_EQ(with_markup(segment, "At O(1) there", {{0, 0}, {1, 1}, {2, 2}}, escape_html),
            "<b>At</b> <em>O(1</em>)<i></i> there");
  EXPECT_EQ(with_markup(segment, "O(1)-Zeit there", {{0, 0}, {1, 0}, {2, 1}}, escape_html),
            "<b>O(1)-Zeit</b><em></em><i></i> there");
}

TEST(MarkdownDocument, EntitiesStayWhole) {
  for (const std::string text : {"Der **Hund &amp; Katze &lt;** da.\n", "Ein *&amp; Hund*; da *&lt;b&gt;*.\n",
                                 "Der Hund &amp;<a id=x></a>, ja.\n"}) {
    EXPECT_EQ(copied_markdown(text), text);
  }
  const Segment segment = markdown_segments("Ein **Hund** da.").at(0);
  EXPECT_EQ(with_markup(segment, "a &b; c", {{0, 0}, {1, 1}, {2, 2}}, escape_markdown), "a **&b;** c");
}

/// The only segment of a document in HTML, with this translation, whose words are aligned in order.
std::string with_words(const std::string& html, const std::string& translation) {
  const Segment segment = html_segments(html).at(0);
  std::vector<WordLink> links;
  const auto words = static_cast<int>(word_ends(translation).size());
  for (int word = 0; word < words; ++word) links.emplace_back(word, word);
  return with_markup(segment, translation, links, escape_html);
}

TEST(HtmlDocument, ElementsWithoutTextStayAroundTheirContent) {
  for (const std::string html :
       {"<p>Der Hund <a href=x><img src=y></a> ist da.</p>",
        "<p>Der Hund <b><i><!-- x --></i></b> ist da.</p>",
        "<p>Der Hund <a href=x> <img src=y> <i></i></a> ist da.</p>", "<p>Der <b>Hund <img></b> ist da.</p>",
        "<p><a href=x><img src=y></a> Der Hund</p>", "<p>Der Hund <a href=x><img src=y></a> </p>"}) {
    EXPECT_EQ(copied_html(html), html);
  }
  EXPECT_EQ(with_words("<p>Der Hund <a href=x><img src=y></a> ist da.</p>", "The dog is there."),
            "The dog <a href=x><img src=y></a> is there.");
}

TEST(HtmlDocument, PointsStayOnTheirSideOfATag) {
  for (const std::string html :
       {"<p>Er ist <img><a href=x>da</a>.</p>", "<p>Er ist <input><label>da</label> nun.</p>",
        "<p>Er <b>ist<img></b> da.</p>", "<p>Er <b><img>ist</b><img> da.</p>",
        "<p>Er <u><b>ist</b><img></u> da.</p>", "<p>Er<img>, (<img>sie) und es<img>.</p>",
        "<p>Er <a href=x><svg><path/></svg></a> ist da.</p>"}) {
    EXPECT_EQ(copied_html(html), html);
  }
  // Where the word of an element is lost, what it has within stays in it.
  const Segment segment = html_segments("<p>Er ist <b>doch<img></b> da.</p>").at(0);
  EXPECT_EQ(with_markup(segment, "He is there.", {{0, 0}, {1, 1}, {3, 2}}, escape_html),
            "He is <b><img></b>there.");
}

TEST(HtmlDocument, LinksAreNotNested) {
  const Segment segment = html_segments("<p><a href=x>Es</a> <b><a href=y>gibt</a></b> <i>ihn</i></p>").at(0);
  EXPECT_EQ(with_markup(segment, "Ja", {{0, 0}, {1, 0}, {2, 0}}, escape_html),
            "<a href=x><i>Ja</i></a><b><a href=y></a></b>");
}

TEST(HtmlDocument, LinksDoNotEncloseUnchangedMarkupWithALink) {
  const std::vector<WordLink> links{{0, 0}, {1, 1}, {2, 4}, {3, 3}};
  const std::string text = "Bitte schalte jetzt `x0` ein";
  for (const std::string kept :
       {"<a href=y><code>f</code></a>", "<b><a href=y><code>f</code></a></b>", "<code><a href=y>f</a></code>",
        "<span translate=no>das <a href=y>f</a></span>"}) {
    const auto written = [&](const std::string& html) {
      return with_markup(html_segments(html + kept).at(0), text, links, escape_html);
    };
    EXPECT_EQ(written("Please <a href=x>turn on</a> "), "Bitte <a href=x>schalte jetzt</a> " + kept + " ein");
    EXPECT_EQ(written("Please <i><a href=x>turn on</a></i> "),
              "Bitte <i><a href=x>schalte jetzt</a> " + kept + " ein</i>");
    EXPECT_EQ(with_markup(html_segments("<a href=x>Es</a> " + kept).at(0), "`x0`", {}, escape_html),
              "<a href=x></a>" + kept);
  }
  for (const std::string kept : {"[`f`](v)", "**[`f`](v)**", "<b>[`f`](v)</b>", "<code>[f](v)</code>"}) {
    const Segment segment = markdown_segments("Please [turn on](u) " + kept).at(0);
    EXPECT_EQ(with_markup(segment, text, links, escape_markdown),
              "Bitte [schalte jetzt](u) " + kept + " ein");
  }
  // Other unchanged markup may be in a link.
  EXPECT_EQ(with_markup(html_segments("Please <a href=x>turn on</a> <code>f</code>").at(0), text, links,
                        escape_html),
            "Bitte <a href=x>schalte jetzt <code>f</code> ein</a>");
}

TEST(HtmlDocument, MarksOfFootnotesAreNoPartOfWords) {
  const std::string mark = "<sup id=r class=reference><a href=\"#n\">[1]</a></sup>";
  for (const std::string& html :
       {"<p>Der Hund" + mark + " ist da" + mark + ".</p>", "<p>Der Hund ist da." + mark + " Ja.</p>",
        std::string("<p>Der Hund<a href=x><sup>1</sup></a> ist<a href=x>[1]</a> da.</p>"),
        std::string("<p>Der Hund ist da<sup>[Anm. 1]</sup>.</p>")}) {
    EXPECT_EQ(copied_html(html), html);
    EXPECT_EQ(html_segments(html).at(0).text.substr(0, 12), "Der Hund ist");
  }
  EXPECT_EQ(with_words("<p>Der Hund ist da" + mark + ".</p>", "The dog is there."),
            "The dog is there" + mark + ".");
  EXPECT_THAT(texts(html_segments(
                  "<p><sup>1</sup>Der <sup>14</sup>C, 5<a href=x><sup>2</sup></a>, x<sup><i>n</i></sup>, 1" +
                  mark + ", <sup>3</sup>/<sub>4</sub> <sup>2</sup>da")),
              ElementsAre("Der `x0`C, 5`x1`, x`x2`, 1`x3`, `x4`/`x5` da"));
}

TEST(HtmlDocument, UnchangedMarkupHasATextOfItsOwn) {
  const std::string html = "<p>Gib `x0` und <code>ls</code> und &#96;x2`, `x3<code>cd</code> ein.</p>";
  EXPECT_THAT(texts(html_segments(html)), ElementsAre("Gib `x0` und `x1` und `x2`, `x3`x4` ein."));
  EXPECT_EQ(with_words("<p>Gib `x0` und <code>ls</code> ein.</p>", "Enter `x1` and `x0`."),
            "Enter <code>ls</code> and `x0`.");
}

TEST(HtmlDocument, EmphasisOfUnchangedMarkupIsUnchanged) {
  const std::string html = "<p>Der <b><code>ls</code></b> und <a href=x> <kbd>C</kbd> </a> hier.</p>";
  EXPECT_THAT(texts(html_segments(html)), ElementsAre("Der `x0` und `x1` hier."));
  EXPECT_EQ(copied_html(html), html);
  EXPECT_TRUE(html_segments("<p><code>ls</code>").empty());
}

/// Elements of HTML in one another, with text between them; an element has a number.
class RandomMarkup {
 public:
  std::string of_depth(int depth, bool in_link) {
    std::string result;
    for (int n = below(4) + 1; n > 0; --n) {
      if (below(3) == 0) result += ' ';
      const int kind = depth == 0 ? below(2) : below(5);
      if (kind == 0) {
        result += "<img id=" + std::to_string(++elements_) + ">";
      } else if (kind == 1) {
        result += "Hund";
      } else {
        const std::string name = kind == 2 && !in_link ? "a" : kind == 3 ? "b" : "i";
        const std::string id = std::to_string(++elements_);
        result +=
            "<" + name + " id=" + id + ">" + of_depth(depth - 1, in_link || name == "a") + "</" + name + ">";
      }
    }
    return result;
  }
  std::vector<WordLink> links(int sources, int targets) {
    std::vector<WordLink> result;
    for (int n = below(8); n > 0; --n) result.emplace_back(below(sources), below(targets));
    return result;
  }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

 private:
  std::mt19937 random_{7};
  int elements_ = 0;
};

/// The opening tags around each opening tag, outer ones first; nothing if a closing tag is not that of the
/// innermost open element.
std::optional<std::map<std::string, std::vector<std::string>>> nesting_of(const std::string& html) {
  std::map<std::string, std::vector<std::string>> result;
  std::vector<std::string> open;
  for (size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::string tag = html.substr(at, html.find('>', at) + 1 - at);
    if (tag[1] == '/') {
      if (open.empty() || open.back()[1] != tag[2]) return std::nullopt;
      open.pop_back();
      continue;
    }
    if (!result.emplace(tag, open).second) return std::nullopt;
    if (!tag.starts_with("<img")) open.push_back(tag);
  }
  return open.empty() ? std::optional(result) : std::nullopt;
}

TEST(HtmlDocument, ElementsStayInThoseAroundThem) {
  RandomMarkup random;
  int segments = 0, moved = 0;
  for (int n = 0; n < 3000; ++n) {
    const std::string html = random.of_depth(3, false);
    for (const Segment& segment : html_segments(html)) {
      ++segments;
      const std::string source = html.substr(segment.begin, segment.end - segment.begin);
      std::string translation = "Dog";
      const int words = random.below(4) + 1;
      for (int word = 1; word < words; ++word) translation += random.below(2) == 0 ? " dog" : " dog,";
      const auto links = random.links(static_cast<int>(word_ends(segment.text).size()), words);
      const std::string result = with_markup(segment, translation, links, escape_html);
      const auto before = nesting_of(source), after = nesting_of(result);
      ASSERT_TRUE(before && after) << source << "\n" << result;
      ASSERT_EQ(before->size(), after->size()) << source << "\n" << result;
      for (const auto& [tag, around] : *before) {
        const std::vector<std::string>& now = after->at(tag);
        for (const std::string& outer : around)
          ASSERT_EQ(std::ranges::count(now, outer), 1) << outer << tag << source << "\n" << result;
        const auto link = [](const std::string& outer) { return outer.starts_with("<a "); };
        ASSERT_LE(std::ranges::count_if(now, link), tag.starts_with("<a ") ? 0 : 1) << source << "\n"
                                                                                    << result;
      }
      moved += source != result ? 1 : 0;
    }
  }
  EXPECT_GT(segments, 1000);
  EXPECT_GT(moved, 1000);
}

TEST(MarkdownDocument, EmphasisWithoutACounterpartIsLeftOut) {
  const Segment segment = markdown_segments("Das ist **doch** schön.").at(0);
  EXPECT_EQ(with_markup(segment, "That is beautiful.", {{0, 0}, {1, 1}, {3, 2}}, escape_markdown),
            "That is beautiful.");
}

TEST(MarkdownDocument, LinksWithoutACounterpartEncloseTheNearestWord) {
  const std::vector<WordLink> links{{2, 1}};
  EXPECT_EQ(with_markup(markdown_segments("[Es](http://x.de) gibt Brot.").at(0), "There's bread.", links,
                        escape_markdown),
            "[There's](http://x.de) bread.");
  EXPECT_EQ(with_markup(markdown_segments("**[Es](http://x.de)** gibt Brot.").at(0), "There's bread.", links,
                        escape_markdown),
            "**[There's](http://x.de)** bread.");
}

TEST(MarkdownDocument, LineBreaksOfHtmlEndSegments) {
  const std::string text =
      "Eins<br>Zwei <BR/> drei **vier**<br />**fünf<br>sechs** ja\n<br>\nsieben\n\n"
      "| A<br>B | C |\n|---|---|\n| D | E |\n";
  EXPECT_THAT(texts(markdown_segments(text)),
              ElementsAre("Eins", "Zwei", "drei vier", "fünf sechs ja", "sieben", "A", "B", "C", "D", "E"));
  EXPECT_EQ(copied_markdown("Eins<br>Zwei <br/> drei **vier**<br />ja\n<br>\nsieben\n"),
            "Eins<br>Zwei <br/> drei **vier**<br />ja\n<br>\nsieben\n");
  EXPECT_EQ(copied_markdown("**fünf<br>sechs**\n"), "**fünf <br>sechs**\n");
}

TEST(MarkdownDocument, LineBreaksBehindMarkupEndSegments) {
  const std::string text =
      "**Wichtig:**  \nDas Haus.\n\nHerr **Max**\\\n*[Weg 5](u)*  \n`B` ~~C~~  \n<http://x.example>  "
      "\nEnde\n";
  EXPECT_THAT(texts(markdown_segments(text)),
              ElementsAre("Wichtig:", "Das Haus.", "Herr Max", "Weg 5", "`x0` C", "Ende"));
  EXPECT_EQ(copied_markdown(text), text);
  EXPECT_THAT(texts(markdown_segments("**Wichtig:  \nja** hier\n")), ElementsAre());  // within markup
}

TEST(MarkdownDocument, FormulasStayAsTheyAre) {
  const std::string text =
      "Es gilt $x^2$, ($y$), \"$z_1$\" und $n$-mal $$a*b*c$$.\n\nAlso\n$$\na = b\n$$\nund\n\n"
      "> $$c\n> = d$$\n> Zitat\n\n- Punkt\n  $$\n  $e$\n  $$\n  mehr\n\n| Länge $|l|$ | B |\n|---|---|\n";
  EXPECT_THAT(texts(markdown_segments(text)),
              ElementsAre("Es gilt `x0`, (`x1`), \"`x2`\" und `x3`-mal `x4`.", "Also", "und", "Zitat",
                          "Punkt", "mehr", "Länge `x0`", "B"));
  EXPECT_EQ(copied_markdown(text), text);
  // Prices, names of variables and code are none.
  for (const std::string price : {"von $5 bis $10", "$5, $6 oder 7$", "$5 oder 10$", "$20-$30", "US$5/A$",
                                  "$HOME/$USER", "5$ oder 6$", "$ 5 $", "$$", "$5"}) {
    EXPECT_THAT(texts(markdown_segments("Es sind " + price + " hier.\n")),
                ElementsAre("Es sind " + price + " hier."));
  }
  EXPECT_THAT(texts(markdown_segments("Rufe `$x$` oder `a$` und `b$` auf.\n")),
              ElementsAre("Rufe `x0` oder `x1` und `x2` auf."));
  EXPECT_THAT(texts(markdown_segments("Ein\n$$\nohne Ende\n\nund $$\n")),
              ElementsAre("Ein $$ ohne Ende", "und $$"));
  EXPECT_EQ(copied_markdown("```\n$$\n```\nHund\n```\n$$\n```\n"), "```\n$$\n```\nHund\n```\n$$\n```\n");
  EXPECT_THAT(texts(markdown_segments("```\n$$\n```\nHund\n```\n$$\n```\n")), ElementsAre("Hund"));
}

TEST(MarkdownDocument, DollarSignsOfProseAreNoFormulas) {
  for (const std::string prose : {"Am Anfang \"$\" und am Ende \"$\" hier", "($) ist Geld und ($) auch",
                                  "Es kostet $5; \"$\" ist das Zeichen", "ein „$“ und ein „$“",
                                  "ein **$** und ein **$**", "viele $$ für mein Auto, aber keine $$ heute"}) {
    EXPECT_EQ(copied_markdown(prose + ".\n"), prose + ".\n");
    const auto found = texts(markdown_segments(prose + ".\n"));
    ASSERT_EQ(found.size(), 1) << prose;
    EXPECT_EQ(found[0].find("`x"), std::string::npos) << found[0];
  }
  EXPECT_THAT(
      texts(markdown_segments(
          "Es gilt $f'$, ($a and b$), $]0,1[$, $$ x + y $$ und $x \\text{ for all these } y$ hier.\n")),
      ElementsAre("Es gilt `x0`, (`x1`), `x2`, `x3` und `x4` hier."));
}

TEST(MarkdownDocument, FormulasGoOnInTheNextLineOfAParagraph) {
  EXPECT_THAT(texts(markdown_segments("Der Wert $a\n= b$ und $c\n+d$ ist $e,\nf$ und $g\n2 h$ groß.\n")),
              ElementsAre("Der Wert `x0` und `x1` ist `x2` und `x3` groß."));
  const std::string item = "- Punkt $a\n  b$ hier\n";
  EXPECT_THAT(texts(markdown_segments(item)), ElementsAre("Punkt `x0` hier"));
  EXPECT_EQ(copied_markdown(item), item);
  // Prices are none, and no paragraph goes on behind its end or in the next item.
  for (const std::string other :
       {"Hund $a\n\nKatze b$\n", "- Hund $a\n- Katze b$\n", "Hund $a\n1. Katze b$\n", "Hund $a\n# Katze b$\n",
        "> Hund $a\n> Katze b$\n", "Von $5\nist es 10$\n", "Lokal A: $$\nLokal B: $$\n"})
    EXPECT_THAT(texts(markdown_segments(other)), testing::Not(testing::Contains(testing::HasSubstr("`x"))))
        << other;
}

TEST(MarkdownDocument, FormulasOfSeveralLinesBeginBehindTextAndMarksOfLists) {
  const std::string list =
      "Regeln:\n- $$\n  a\n  $$\n  Die erste.\n- $$b\n  $$\n  Die zweite.\n\n1. $$\n   c\n   $$\n2. Hund\n";
  EXPECT_THAT(texts(markdown_segments(list)), ElementsAre("Regeln:", "Die erste.", "Die zweite.", "Hund"));
  EXPECT_EQ(copied_markdown(list), list);
  const std::string text = "> Die Summe $s$ ist $$\n> a\n> $$\n> und\n\nHund $$\nb\n$$\nKatze\n$$\nc\n$$\n";
  EXPECT_THAT(texts(markdown_segments(text)),
              ElementsAre("Die Summe `x0` ist `x1`", "und", "Hund `x0`", "Katze"));
  EXPECT_EQ(copied_markdown(text), text);
  for (const std::string prices :
       {"Lokal A: $$\nLokal B: $$", "Viele $$\nfür mein Auto und\n$$", "- $$ Hund\n- Katze: $$"})
    EXPECT_THAT(texts(markdown_segments(prices + "\n")),
                testing::Not(testing::Contains(testing::HasSubstr("`x"))))
        << prices;
  EXPECT_THAT(texts(markdown_segments("- $$ Hund\n- Katze: $$\n")), ElementsAre("$$ Hund", "Katze: $$"));
}

TEST(MarkdownDocument, LinesBeginWithMarkup) {
  for (const std::string markup : {"[Hund](u)", "**Hund**", "<b>Hund</b>", "`Hund`", "<http://hund.example>",
                                   "[*Hund*](u)", "*[Hund](u)*", "[^1]"}) {
    EXPECT_EQ(copied_markdown("Das ist\n" + markup + " da.\n"), "Das ist " + markup + " da.\n");
    EXPECT_EQ(copied_markdown("> *Das ist*\n> " + markup + "\n> da.\n"), "> *Das ist* " + markup + " da.\n");
  }
}

TEST(MarkdownDocument, MarksOfAlertsStayInTheirLine) {
  const std::string text =
      "> [!NOTE]\n> Der Hund ist da.\n\n- > [!Warning] \r\n  > **Ja** [x](u)\n\n> [!TIP]\n\n> "
      "[!TIP]\n>\n> Nein\n";
  EXPECT_THAT(texts(markdown_segments(text)), ElementsAre("Der Hund ist da.", "Ja x", "Nein"));
  EXPECT_EQ(copied_markdown(text), text);
  EXPECT_THAT(
      texts(markdown_segments("> Ja [!NOTE]\n> da\n\n[!NOTE]\nda\n\n> [!NOTE] da\n\n> [!HUND]\n> da\n")),
      ElementsAre("Ja [!NOTE] da", "[!NOTE] da", "[!NOTE] da", "[!HUND] da"));
}

TEST(MarkdownDocument, AddressesInAngleBracketsAreUnchanged) {
  const std::string text = "Frag <a@b.example>, lies <http://b.example/?a&amp;b> oder <<c@d.example>>.";
  const Segment segment = markdown_segments(text).at(0);
  EXPECT_EQ(segment.text, "Frag `x0`, lies `x1` oder <`x2`>.");
  EXPECT_EQ(with_markup(segment, "Read `x1`, ask `x0` or <`x2`>.", {}, escape_markdown),
            "Read <http://b.example/?a&amp;b>, ask <a@b.example> or <<c@d.example>>.");
}

TEST(MarkdownDocument, TranslationsAreTextAndNotMarkup) {
  const Segment segment = markdown_segments("Der **Hund** ist a < b &lt; c.").at(0);
  const auto translated = [&](const std::string& text) {
    return with_markup(segment, text, {{0, 0}, {1, 1}, {2, 2}}, escape_markdown);
  };
  EXPECT_EQ(translated("the <script>alert(1)</script> is"), "the **\\<script>alert(1)\\</script>** is");
  EXPECT_EQ(translated("the <!--x--> is"), "the **\\<!--x-->** is");
  EXPECT_EQ(translated("a < b &lt; 3<4 <"), "a **<** b &lt; 3<4 <");
}

/// Translates every text to one.
class OneTranslation : public LineTranslator {
 public:
  explicit OneTranslation(std::string text) : text_(std::move(text)) {}
  void translate(const NextLine& next, const std::function<void(Translation)>& take,
                 const Control& /*control*/) const override {
    for (std::string line; next(line);) {
      Translation translation;
      translation.source = line;
      translation.candidates.emplace_back().text = text_;
      take(std::move(translation));
    }
  }

 private:
  std::string text_;
};

TEST(Documents, ByteOrderMarksStayInFrontOfThem) {
  const auto translated = [](const std::string& document, DocumentFormat format) {
    return translate_document(OneTranslation("Dog"), document, format).text;
  };
  EXPECT_EQ(translated("\uFEFF---\ntitle: Hund\nid: 5\n---\n# Hund\n", DocumentFormat::kMarkdown),
            "\uFEFF---\ntitle: Dog\nid: 5\n---\n# Dog\n");
  EXPECT_EQ(translated("\uFEFF- Hund\n- Katze\n", DocumentFormat::kMarkdown), "\uFEFF- Dog\n- Dog\n");
  EXPECT_EQ(translated("\uFEFF# Hund", DocumentFormat::kMarkdown), "\uFEFF# Dog");
  EXPECT_EQ(translated("\uFEFF<p>Hund</p>", DocumentFormat::kHtml), "\uFEFF<p>Dog</p>");
  EXPECT_EQ(translated("\uFEFFHund", DocumentFormat::kHtml), "\uFEFFDog");
  EXPECT_EQ(translated("\uFEFF", DocumentFormat::kHtml), "\uFEFF");
}

TEST(MarkdownDocument, TranslationsBeginNoLists) {
  const auto translated = [](const std::string& document, const std::string& text) {
    return translate_document(OneTranslation(text), document, DocumentFormat::kMarkdown).text;
  };
  for (const auto& [text, escaped] : std::map<std::string, std::string>{{"24. Mai", "24\\. Mai"},
                                                                        {"24.", "24\\."},
                                                                        {"1) Mai", "1\\) Mai"},
                                                                        {"- Mai", "\\- Mai"},
                                                                        {"+ Mai", "\\+ Mai"},
                                                                        {"* Mai", "\\* Mai"},
                                                                        {"# Mai", "\\# Mai"},
                                                                        {"> 5", "\\> 5"},
                                                                        {">5", "\\>5"},
                                                                        {"###### Mai", "\\###### Mai"}}) {
    for (const std::string before : {"", "17\n\n", "- ", "> 1. ", "- [x] ", "[^1]: ", "`x`\n===\n\n  "}) {
      EXPECT_EQ(translated(before + "Mai\n", text), before + escaped + "\n");
    }
    for (const std::string before : {"# ", "> ## ", "|1|2|\n|---|---|\n|1|"}) {
      EXPECT_EQ(translated(before + "Mai\n", text), before + text + "\n");
    }
  }
  for (const std::string text :
       {"24.5 Mai", "24.Mai", "24 Mai", "-5", "+-5", "*Mai", "#1", "####### Mai", "1234567890. Mai", "Mai"})
    EXPECT_EQ(translated("Mai\n", text), text + "\n");
  EXPECT_EQ(translate_document(OneTranslation("24. Mai"), "<p>Mai</p>", DocumentFormat::kHtml).text,
            "<p>24. Mai</p>");
}

TEST(MarkdownDocument, TagsOfHtmlAreElements) {
  EXPECT_THAT(texts(markdown_segments(
                  "Drück <kbd>Strg</kbd>+<KBD>C</kbd>, 5 m<sup>2</sup> H<sub>2</sub>O, <b>`ls`</b>, "
                  "Hund[<sup>1</sup>](#a), Katze<sup>[1](#b)</sup>, "
                  "<i translate=no>ja</i> <i class='a notranslate'>ja</i> <svg><text>a</text></svg>.")),
              ElementsAre("Drück `x0`+`x1`, 5 m`x2` H`x3`O, `x4`, Hund, Katze, `x5` `x6` ."));
  const Segment segment =
      markdown_segments("Er hat das *Buch <a href=\"x\">gestern im Laden</a>* gekauft.").at(0);
  EXPECT_EQ(
      with_markup(segment, "He bought the book in the store yesterday.",
                  {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 7}, {5, 4}, {6, 5}, {6, 6}, {7, 1}}, escape_markdown),
      "He bought the *book <a href=\"x\">in the store yesterday</a>*.");
  for (const std::string text :
       {"Er hat <i>das Auto</i> gestern <u>verkauft</u>.\n",
        "Der Hund [<img src=a>](b) schläft <a id=x></a> da.\n",
        "> Ein <b>Hund und *eine <u>Katze</u>*</b> sind da.\n", "**<u>Der Hund</u>** ist da.\n",
        "Der <a title=\"a > b\" href=x/>*Hund*</a> ist <br/> da. <x-y />\n",
        "Ein vector<int> *a<T>* <b>Set<T></b>\n", "Ein <?php x ?> Hund <!-- </b> --> da.\n",
        "| <b>Hund</b> | <i>Katze |\n|---|---|\n| a</i> | <u>b</u> |\n"}) {
    EXPECT_EQ(copied_markdown(text), text);
    EXPECT_FALSE(markdown_segments(text).empty()) << text;
  }
}

TEST(MarkdownDocument, TagsOfHtmlThatAreNoPairsStayAsTheyAre) {
  for (const std::string text :
       {"Der <b>Hund</i> ist da.\n", "Der Hund</b> ist da.\n", "Der <b>Hund ist da.\n",
        "Der *<b>Hund* ist</b> da.\n", "Der <b>*Hund</b> ist* da.\n", "<b><i>a</b></i>\n",
        "Der <kbd>*a</kbd> Hund* ist.\n"}) {
    EXPECT_TRUE(markdown_segments(text).empty()) << text;
  }
}

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int n = 0; n < count; ++n) result += text;
  return result;
}

/// Expects that both readers of a document refuse it, with a message that has this part.
void expect_refused(const std::string& html, const std::string& part) {
  const std::vector<std::function<void()>> readers{[&] { html_segments(html); }, [&] { html_labels(html); }};
  for (const auto& read : readers) {
    try {
      read();
      ADD_FAILURE() << html.substr(0, 40) << " was read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(part)) << html.substr(0, 40);
    }
  }
}

TEST(MarkdownDocument, NestedTagsOfHtmlTakeLinearTime) {
  const int count = 20'000;
  const std::string blank = repeated("\u00A0", count);
  for (const char* name : {"b", "sup", "kbd", "a", "int"}) {
    const std::string open = repeated("<" + std::string(name) + ">", count),
                      close = repeated("</" + std::string(name) + ">", count);
    for (const std::string& inner : {std::string(), blank, blank + "1", "1" + blank, "[" + blank + "Hund"}) {
      EXPECT_LE(markdown_segments("Hund" + open + inner + close).size(), 1U);
    }
    EXPECT_LE(markdown_segments(open).size(), 1U);
    EXPECT_LE(markdown_segments("Hund" + close).size(), 1U);
  }
}

TEST(MarkdownDocument, LinksThatDoNotEndTakeLinearTime) {
  const auto seconds = [](const std::string& unit, int count) {
    const std::string text = repeated(unit, count) + "\n\n[a]: u\n";
    double least = 1e9;
    for (int run = 0; run < 2; ++run) {
      const std::clock_t begin = std::clock();
      EXPECT_LE(markdown_segments(text).size(), 1U);
      EXPECT_LE(markdown_labels(text).size(), static_cast<size_t>(count));
      least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    }
    return least;
  };
  for (const char* unit : {"[a](", "![a](", "[a][", "![a]["}) {
    // Quadratic time would be sixteen times as long.
    EXPECT_LT(seconds(unit, 40'000), 9 * std::max(seconds(unit, 10'000), 1e-2)) << unit;
  }
}

TEST(HtmlDocument, RefusesEndlessNesting) {
  expect_refused(repeated("<div>", 100'000), "nested");
  // End tags that end nothing: of no open element, and of one outside the table.
  expect_refused(repeated("<i></x>", 20'000), "nested");
  expect_refused(repeated("<i></p>", 20'000), "nested");
  expect_refused(repeated("<div><table></div></table>", 4500), "nested");
  // End tags in attributes and in comments end nothing.
  expect_refused(repeated("<div a='</div>'>", 5000), "nested");
  expect_refused(repeated("<div><!-- > </div>-->", 5000), "nested");
  expect_refused("<svg><style>" + repeated("<g>", 5000) + "</style></svg>", "nested");
  // Gumbo frees what is before a <frameset>.
  expect_refused(repeated("<i></i>", 20'000) + "<FrameSet>", "frameset");
}

TEST(HtmlDocument, TagsWithoutEndAreNotNested) {
  for (const char* tag : {"<p>Hund", "<option>Hund", "<source src=a>", "<li>Hund</li></p>"}) {
    EXPECT_NO_THROW(html_segments(repeated(tag, 5000))) << tag;
  }
  EXPECT_EQ(texts(html_segments("<svg>" + repeated("<path d='M0 0'/>", 5000) + "</svg><p>Hund")),
            std::vector<std::string>{"Hund"});
}

TEST(HtmlDocument, TextOfScriptsAndCommentsIsNotNested) {
  const std::string loops = repeated("for (i = 0; i<n; ++i) x = '<div>';\n", 3000);
  for (const std::string& html :
       {"<script>" + loops + "</script>", "<SCRIPT src=x>" + loops + "</Script >",
        "<style>" + loops + "</style>", "<!--" + loops + "-->", "<!--" + loops + "--!>",
        "<textarea>" + loops + "</textarea>", "<title>" + loops + "</title>",
        "<iframe>" + loops + "</iframe>", "<noframes>" + loops + "</noframes>",
        "<svg><path d='M0 0'/></svg><script>" + loops + "</script>", "<!--><script>" + loops + "</script>",
        "<p title='" + repeated("<b>", 5000) + "'></p>"}) {
    EXPECT_EQ(texts(html_segments(html + "<p>Hund")).back(), "Hund") << html.substr(0, 40);
    EXPECT_NO_THROW(html_labels(html));
  }
}

TEST(HtmlDocument, RefusesTreesOutOfProportion) {
  // Each <p> opens all the <b> again, so this would take 1 GB.
  std::string html = "<p>";
  for (int n = 0; n < 1250; ++n) html += "<b a" + std::to_string(n) + ">";
  expect_refused(html + repeated("<p>1", 2600), "close formatting elements");
  // Formatting elements that are not closed are common, though. Each begins a segment.
  EXPECT_EQ(html_segments(repeated("<p><font color=red><b>ein <i>Hund", 500)).size(), 1000U);
}

TEST(HtmlDocument, ReadingCanBeCancelled) {
  const std::atomic<bool> flag = true;
  EXPECT_THROW(html_segments("<p>Hund", Stop(&flag)), Cancelled);
  EXPECT_THROW(html_labels("<p>Hund", Stop(&flag)), Cancelled);
}

/// The document with the text of each label in angle brackets; `texts` lists them.
std::string with_labels(const std::string& document, const std::vector<Label>& labels,
                        std::vector<std::string>& texts) {
  std::string result;
  size_t at = 0;
  for (const Label& label : labels) {
    texts.push_back(label.text);
    result += document.substr(at, label.begin - at) + label.written(label.text + "!");
    at = label.end;
  }
  return result + document.substr(at);
}

TEST(HtmlDocument, FindsAttributesThatAreRead) {
  const std::string html =
      "<meta name=Description content='Ein \"Hund\"'><meta name=viewport content=width>"
      "<p title=Hund class=\"Katze\">Ein <img src=a.png alt=\"Der &amp; die\n Hunde\"> <a title=\"\">hier</a>"
      "<input type=text value=\"Wert\" placeholder=\"Ihr Name\"><input type=Submit value=\"Senden\">"
      "<b translate=no title=\"Nein\">x</b><button aria-label='Schließen'>1</button>"
      "<pre title=\"Code\"><i title=\"Nein\">x</i></pre>";
  std::vector<std::string> found;
  EXPECT_EQ(with_labels(html, html_labels(html), found),
            "<meta name=Description content='Ein \"Hund\"!'><meta name=viewport content=width>"
            "<p title=\"Hund!\" class=\"Katze\">Ein <img src=a.png alt=\"Der &amp; die Hunde!\"> <a "
            "title=\"\">hier</a>"
            "<input type=text value=\"Wert\" placeholder=\"Ihr Name!\"><input type=Submit value=\"Senden!\">"
            "<b translate=no title=\"Nein\">x</b><button aria-label='Schließen!'>1</button>"
            "<pre title=\"Code!\"><i title=\"Nein\">x</i></pre>");
  EXPECT_THAT(found, ElementsAre("Ein \"Hund\"", "Hund", "Der & die Hunde", "Ihr Name", "Senden", "Schließen",
                                 "Code"));
  EXPECT_EQ(html_labels("<p title=x>")[0].written("\"<'&"), "\"&quot;&lt;'&amp;\"");
  EXPECT_EQ(html_labels("<p title='x'>")[0].written("\"<'&"), "'\"&lt;&#39;&amp;'");
}

TEST(HtmlDocument, TranslationIsSwitchedOnAgain) {
  const std::string html =
      "<p>Eins</p><div translate=no>Nein <p title=Nein>Nein <b translate=yes title=Ja>Zwei</b> nein</p>"
      "<p translate=Yes>Drei <i translate=no>nein</i></p><pre translate=yes>Nein</pre></div><p>Vier</p>";
  EXPECT_THAT(texts(html_segments(html)), ElementsAre("Eins", "Zwei", "Drei `x0`", "Vier"));
  EXPECT_EQ(copied_html(html), html);
  std::vector<std::string> found;
  with_labels(html, html_labels(html), found);
  EXPECT_THAT(found, ElementsAre("Ja"));
}

TEST(MarkdownDocument, FindsFrontMatterAndImages) {
  const std::string text =
      "---\ntitle: Der Titel\ndescription: \"Ein: Hund\"\nauthor: Hans\ntags: [a]\n---\n"
      "Ein ![alter Hund](a.png \"T\") und ![](b.png) ![ein *Wort*](c.png)\n\n```\n![Code](d.png)\n```\n";
  std::vector<std::string> found;
  EXPECT_EQ(
      with_labels(text, markdown_labels(text), found),
      "---\ntitle: Der Titel!\ndescription: \"Ein: Hund!\"\nauthor: Hans\ntags: [a]\n---\n"
      "Ein ![alter Hund!](a.png \"T\") und ![](b.png) ![ein *Wort*](c.png)\n\n```\n![Code](d.png)\n```\n");
  EXPECT_THAT(found, ElementsAre("Der Titel", "Ein: Hund", "alter Hund"));
  const std::vector<Label> plain = markdown_labels("---\ntitle: Hund\n---\n");
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].written("A: \"dog\""), "\"A: \\\"dog\\\"\"");
  EXPECT_EQ(markdown_labels("title: Hund\n").size(), 0U);
  EXPECT_EQ(markdown_labels("![a](b)")[0].written("a [b]"), "a \\[b\\]");
  EXPECT_EQ(markdown_labels("![a](b)")[0].written("a <b title='](c)'> < `d \\"),
            "a \\<b title='\\](c)'> < \\`d \\\\");
}

TEST(MarkdownDocument, FrontMatterStaysYaml) {
  const auto found = [](const std::string& yaml) { return markdown_labels("---\n" + yaml + "---\n"); };
  // A value that goes on in the next lines.
  EXPECT_TRUE(found("title: Der Hund\n  und die Katze\n").empty());
  EXPECT_TRUE(found("title: Der Hund\r\n\r\n\tund die Katze\r\n").empty());
  EXPECT_EQ(found("title: Der Hund\n\nsubtitle: Die Katze\nauthor:\n  name: Ja\n").size(), 2U);
  // What would be no text.
  const Label title = found("title: Ja\n").at(0);
  for (const std::string text :
       {"Yes",   "no",   "ON",   "off",   "True",  "false",      "y",
        "N",     "Null", "~",    "5",     "-1.5",  "1e3",        "0x1F",
        "1_000", ".5",   ".NaN", "-.inf", "12:30", "2024-05-01", "2024-05-01 10:30:00 +02:00"}) {
    EXPECT_EQ(title.written(text), "\"" + text + "\"");
    EXPECT_TRUE(found("title: " + text + "\n").empty()) << text;
  }
  for (const std::string text : {"Yes, sir", "Nobody", "5 dogs", "...and more", "1st", "2024-05-01 report"})
    EXPECT_EQ(title.written(text), text);
}

TEST(MarkdownDocument, NumbersWithSeparatorsAreText) {
  EXPECT_THAT(texts(markdown_segments("| a | b |\n| --- | --- |\n| 1.084 | 17 |\n")),
              ElementsAre("a", "b", "1.084"));
}

TEST(MarkdownDocument, LabelsAreInOrder) {
  size_t end = 0;
  for (const Label& label : markdown_labels("![l](![)]()")) {
    EXPECT_GE(label.begin, end);
    end = label.end;
  }
  EXPECT_EQ(end, 3U);
}

TEST(MarkdownDocument, FindsTranslatableText) {
  const std::string text =
      "---\ntitle: Der Titel\n---\n# Der Hund\n\nEr **schläft** und\n*träumt* [viel](http://x.example/a_b "
      "\"T\").\n\n"
      "- Eins\n- `code` Zwei\n\n> Ein Zitat\n\n```sh\nls Hund\n```\n\n    Code hier\n\n| A | Bein "
      "|\n|---|---|\n| Zelle "
      "| **Fett** |\n\n<div>HTML Block</div>\n\n[ref]: http://x.example\n";
  EXPECT_THAT(texts(markdown_segments(text)),
              ElementsAre("Der Hund", "Er schläft und träumt viel.", "Eins", "`x0` Zwei", "Ein Zitat", "A",
                          "Bein", "Zelle", "Fett"));
}

TEST(MarkdownDocument, KeepsTheRestByteForByte) {
  for (const char* text :
       {"# Der *Hund*\n", "Er **schläft** und [träumt **viel**](http://x.example/(a) \"T (x)\"), ~~ja~~.\n",
        "* Eins\n* ``a ` b`` zwei\n", "Siehe <http://x.example> und [das][ref].\n",
        "Ein ![Bild](b.png) hier.\n", "Stern \\* und 2 * 3\n", "| A | B |\n|---|---|\n| **x** y | `z` |\n",
        "***Sehr* wichtig** hier\n", "Hallo  \nWelt\n", "a & b &amp; c\n", "[leer]()\n", "_a_ <b>c</b> d\n",
        "1. Eins\n2. *Zwei*"}) {
    EXPECT_EQ(copied_markdown(text), text);
  }
}

TEST(MarkdownDocument, FootnotesKeepTheirLabels) {
  const std::string text =
      "Ein Satz[^1] mit **Note[^a*b]**.[^c_d_e]\n[^1]: Note.\n[^a*b]: Eine *längere* Note[^1].\n\n"
      "    Ihr Absatz.\n\n        Ihr Code\n\nText\n\n    Code\n\n- Punkt[^1]\n\n```\n[^1]: Code\n```\n"
      "`[^1]` und \\[^1] [Wort](u \"[^1]\")[^1]\n\n[^c_d_e]: Hund\n";
  EXPECT_THAT(texts(markdown_segments(text)),
              ElementsAre("Ein Satz`x0` mit Note`x1`.`x2`", "Note.", "Eine längere Note`x0`.", "Ihr Absatz.",
                          "Text", "Punkt`x0`", "Hund"));
  for (const std::string& document :
       {text, std::string("[^1]: Ja\n[^2]: Nein"), std::string("a [^1]`x` [^ 1] [^]\n> [^1]: Zitat\n"),
        std::string("![Bild [^1]](a.png)\n\n[^1][^2]\n\n[^1](u) [Wort][^1]\n\n[Wort]: u\n"),
        std::string("---\ntitle: T\n---\n[^1]: Note\n\n\tMehr\r\n"),
        std::string("| a[^1] |\n|---|\n| b |\n\n[^1]: Eins\n")}) {
    EXPECT_EQ(copied_markdown(document), document);
  }
  const Segment segment = markdown_segments("Der Hund[^1] schläft.").at(0);
  EXPECT_EQ(with_markup(segment, "the dog`x0` sleeps.", {}, escape_markdown), "the dog[^1] sleeps.");
  EXPECT_EQ(with_markup(segment, "the dog sleeps.", {}, escape_markdown), "the dog sleeps. [^1]");
}

/// The only segment of a document, with all words changed.
std::string in_capitals(const std::string& document) {
  const Segment segment = markdown_segments(document).at(0);
  std::string text = segment.text;
  for (char& c : text) c = ascii_upper(c);
  std::vector<WordLink> links;
  for (int word = 0; word < static_cast<int>(word_ends(text).size()); ++word) links.emplace_back(word, word);
  return with_markup(segment, text, links, escape_markdown) + document.substr(segment.end);
}

TEST(MarkdownDocument, LinksKeepTheNamesOfTheirDefinitions) {
  EXPECT_EQ(in_capitals("der [hund] hier\n\n[hund]: u\n"), "DER [HUND][hund] HIER\n\n[hund]: u\n");
  EXPECT_EQ(in_capitals("der [hund][] hier\n\n[hund]: u\n"), "DER [HUND][hund] HIER\n\n[hund]: u\n");
  EXPECT_EQ(in_capitals("der [hund][x] [GNU]\n\n[x]: u\n[gnu]: u\n"),
            "DER [HUND][x] [GNU]\n\n[x]: u\n[gnu]: u\n");
  EXPECT_EQ(in_capitals("[das](kein Ziel) da\n\n[das]: u\n"), "[DAS(KEIN][das] ZIEL) DA\n\n[das]: u\n");
  EXPECT_EQ(in_capitals("der [hund](nicht zu\n\n[hund]: u\n"), "DER [HUND(NICHT][hund] ZU\n\n[hund]: u\n");
  EXPECT_EQ(in_capitals("> *der [alte\n> **hund**]*\n\n[alte **hund**]: u\n"),
            "*DER [ALTE **HUND**][alte **hund**]*\n\n[alte **hund**]: u\n");
  for (const char* text :
       {"[das] und [das][]\n\n[das]: u\n", "[**x** `y`]\n\n[**x** `y`]: u\n", "[kein Link]\n"}) {
    EXPECT_EQ(copied_markdown(text), text);
  }
  std::vector<std::string> found;
  const std::string images = "![Hund] ![Hund][] ![Hund][x]\n\n[hund]: u\n[x]: u\n";
  EXPECT_EQ(with_labels(images, markdown_labels(images), found),
            "![Hund!][Hund] ![Hund!][Hund] ![Hund!][x]\n\n[hund]: u\n[x]: u\n");
  EXPECT_EQ(markdown_labels(images)[0].written("Hund"), "Hund]");
  EXPECT_EQ(markdown_labels(images)[1].written("Hund"), "Hund][]");
}

}  // namespace
}  // namespace heed::translate
