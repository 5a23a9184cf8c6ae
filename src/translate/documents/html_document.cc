// HTML is parsed by Gumbo (HTML 5), which reports the source position of each tag. Only the text of segments
// is rewritten.
#include <gumbo.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document.h"
#include "translate/documents/html_tree.h"

namespace heed::translate {
namespace {

constexpr std::array kInline{
    GUMBO_TAG_A,    GUMBO_TAG_ABBR,  GUMBO_TAG_B,     GUMBO_TAG_BDI,    GUMBO_TAG_BDO,
    GUMBO_TAG_CITE, GUMBO_TAG_DEL,   GUMBO_TAG_DFN,   GUMBO_TAG_EM,     GUMBO_TAG_FONT,
    GUMBO_TAG_I,    GUMBO_TAG_INS,   GUMBO_TAG_LABEL, GUMBO_TAG_MARK,   GUMBO_TAG_Q,
    GUMBO_TAG_S,    GUMBO_TAG_SMALL, GUMBO_TAG_SPAN,  GUMBO_TAG_STRIKE, GUMBO_TAG_STRONG,
    GUMBO_TAG_SUB,  GUMBO_TAG_SUP,   GUMBO_TAG_TIME,  GUMBO_TAG_U,      GUMBO_TAG_BIG};
/// Inline elements whose text is not translated.
constexpr std::array kKept{GUMBO_TAG_CODE, GUMBO_TAG_KBD, GUMBO_TAG_SAMP, GUMBO_TAG_VAR, GUMBO_TAG_TT};
constexpr std::array kAtPlace{GUMBO_TAG_IMG, GUMBO_TAG_INPUT, GUMBO_TAG_WBR};

template <size_t N>
bool is_any(GumboTag tag, const std::array<GumboTag, N>& tags) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

/// Whether the element contains, at any depth, an element that ends a sentence.
bool holds_block(const GumboElement& element) {
  for (unsigned n = 0; n < element.children.length; ++n) {
    const auto& node = *static_cast<const GumboNode*>(element.children.data[n]);
    if (node.type != GUMBO_NODE_ELEMENT && node.type != GUMBO_NODE_TEMPLATE) continue;
    const GumboElement& child = node.v.element;
    const bool within = is_any(child.tag, kInline) || is_any(child.tag, kKept) || is_any(child.tag, kAtPlace);
    if (!within || holds_block(child)) return true;
  }
  return false;
}

/// Whether an element contains, at any depth, one that says that it is translated.
bool holds_translated(const GumboElement& element) {
  for (unsigned n = 0; n < element.children.length; ++n) {
    const auto& node = *static_cast<const GumboNode*>(element.children.data[n]);
    if (node.type != GUMBO_NODE_ELEMENT) continue;
    const GumboElement& child = node.v.element;
    if (says_translated(child) == true || holds_translated(child)) return true;
  }
  return false;
}

/// Bytes [begin, end) of the document.
struct Range {
  size_t begin = 0, end = 0;
};

class Walker {
 public:
  explicit Walker(std::string_view html) : html_(html) {}

  void walk(const GumboNode& node) {
    switch (node.type) {
      case GUMBO_NODE_DOCUMENT:
        children(node.v.document.children);
        break;
      case GUMBO_NODE_TEXT:
      case GUMBO_NODE_WHITESPACE:
      case GUMBO_NODE_CDATA:
        add_text(node.v.text);
        break;
      case GUMBO_NODE_COMMENT:
        add_at_place(range_of(node.v.text.original_text));
        break;
      default:
        add_element(node.v.element);
    }
  }

  std::vector<Segment> take() {
    flush();
    return std::move(segments_);
  }

 private:
  void children(const GumboVector& nodes) {
    for (unsigned n = 0; n < nodes.length; ++n) walk(*static_cast<const GumboNode*>(nodes.data[n]));
  }

  Range range_of(const GumboStringPiece& piece) const {
    if (piece.data == nullptr || piece.length == 0) return {};
    const auto begin = static_cast<size_t>(piece.data - html_.data());
    return {begin, begin + piece.length};
  }

  /// Whether the position follows the previous one; false if the parser has moved the node.
  bool advance(Range range) {
    if (range.begin >= range.end || range.begin < position_ || range.end > html_.size()) return false;
    position_ = range.end;
    if (segment_.begin == segment_.end) segment_.begin = range.begin;
    segment_.end = range.end;
    return true;
  }

  void add_text(const GumboText& text) {
    if (!translates_ || !advance(range_of(text.original_text))) return;
    const std::string_view content(text.text);
    for (size_t at = 0; at < content.size();) {
      const size_t begin = at;
      const char32_t c = next_code_point(content, at);
      const bool space = c == U' ' || (c >= U'\t' && c <= U'\r');
      if (!space) {
        segment_.text += content.substr(begin, at - begin);
      } else if (!segment_.text.empty() && segment_.text.back() != ' ') {
        segment_.text += ' ';
      }
    }
  }

  void add_at_place(Range range) {
    if (segment_.begin == segment_.end) {  // before the text: stays where it is
      position_ = std::max(position_, range.end);
      return;
    }
    if (!advance(range)) return;
    std::string source(html_.substr(range.begin, range.end - range.begin));
    // Of two adjacent spaces only one is kept, and none at the beginning of the text.
    const bool skips = segment_.text.empty() || segment_.text.ends_with(' ');
    const bool spaces = skips && range.end < html_.size() && is_space(html_[range.end]);
    if (spaces) source += ' ';
    segment_.tags.push_back({segment_.text.size(), segment_.text.size(), source, ""});
  }

  /// The children of an element that says whether they are translated, where those around it are otherwise.
  void add_otherwise(const GumboElement& element, bool translates) {
    flush();
    translates_ = translates;
    children(element.children);
    flush();
    translates_ = !translates;
  }

  void add_element(const GumboElement& element) {
    const std::optional<bool> says = says_translated(element);
    if (!translates_) {
      if (is_untouched(element.tag)) return;
      return says == true ? add_otherwise(element, true) : children(element.children);
    }
    if (says == false && !is_untouched(element.tag) && holds_translated(element))
      return add_otherwise(element, false);
    const Range open = range_of(element.original_tag), close = range_of(element.original_end_tag);
    const bool kept =
        is_any(element.tag, kKept) || says == false ||
        is_numeric_script(element, html_.substr(open.end, std::max(open.end, close.begin) - open.end));
    const bool within = is_any(element.tag, kInline) || is_any(element.tag, kKept);
    if (is_any(element.tag, kAtPlace)) return add_at_place(open);
    if (is_untouched(element.tag) || (kept && !within)) {
      flush();
      position_ = std::max({position_, open.end, close.end});
      return;
    }
    const bool whole = open.begin < open.end && close.begin < close.end && open.begin >= position_;
    if (!within || !whole || holds_block(element)) {
      flush();
      children(element.children);
      flush();
      return;
    }
    if (kept) return add_kept({open.begin, close.end});
    if (element.children.length == 0) return add_at_place({open.begin, close.end});  // an icon
    advance(open);
    const size_t tag = segment_.tags.size(), begin = segment_.text.size(), flushes = flushes_;
    segment_.tags.push_back({begin, begin, std::string(html_.substr(open.begin, open.end - open.begin)),
                             std::string(html_.substr(close.begin, close.end - close.begin))});
    if (element.tag == GUMBO_TAG_A) segment_.tags.back().without_text = Tag::WithoutText::kNearest;
    ++open_;
    children(element.children);
    --open_;
    // A flush within, by an element without an end tag, has left the opening tag to the segment before.
    if (!advance(close) || flushes != flushes_) {
      segment_.broken = true;
      return;
    }
    segment_.tags[tag].end = segment_.text.size();
  }

  /// Whether an element is a superscript or subscript without letters, such as an exponent or the number of a
  /// footnote: its digits do not continue the number before it.
  bool is_numeric_script(const GumboElement& element, std::string_view content) const {
    const bool script = element.tag == GUMBO_TAG_SUP || element.tag == GUMBO_TAG_SUB;
    return script && !has_letter(content) && !segment_.text.empty() && segment_.text.back() != ' ';
  }

  /// Adds untranslated text within a sentence.
  void add_kept(Range range) {
    if (!advance(range)) return;
    const std::string source(html_.substr(range.begin, range.end - range.begin));
    std::string text = std::to_string(segment_.kept.size());
    text = "`x" + text + "`";
    segment_.kept.push_back({text, source});
    segment_.text += text;
  }

  void flush() {
    ++flushes_;
    Building segment = std::exchange(segment_, {});
    const std::string_view text = strip_right(segment.text);
    if (segment.broken || open_ > 0 || !is_translatable(text)) return;  // stays unchanged
    // Trailing white space is not part of the segment.
    while (segment.end > segment.begin && is_space(html_[segment.end - 1])) --segment.end;
    while (segment.begin < segment.end && is_space(html_[segment.begin])) ++segment.begin;
    bool space = text.size() < segment.text.size();  // in front of a tag at the end
    segment.text.resize(text.size());
    for (Tag& tag : segment.tags) {
      if (tag.begin > segment.text.size() && std::exchange(space, false)) tag.open.insert(0, 1, ' ');
      tag.begin = std::min(tag.begin, segment.text.size());
      tag.end = std::min(tag.end, segment.text.size());
    }
    segments_.push_back(std::move(segment));
  }

  struct Building : Segment {
    bool broken = false;
  };

  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  std::string_view html_;
  size_t position_ = 0;  // everything before it is processed
  Building segment_;
  std::vector<Segment> segments_;
  bool translates_ = true;
  int open_ = 0;        // number of open inline elements
  size_t flushes_ = 0;  // number of segments begun
};

}  // namespace

std::string escape_html(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    switch (next_code_point(text, at)) {
      case U'&':
        result += "&amp;";
        break;
      case U'<':
        result += "&lt;";
        break;
      case U'>':
        result += "&gt;";
        break;
      case U'\u00A0':
        result += "&nbsp;";
        break;
      default:
        result += text.substr(begin, at - begin);
    }
  }
  return result;
}

std::vector<Segment> html_segments(std::string_view html, const Stop& stop) {
  const HtmlTree tree = parse_html(html, stop);
  Walker walker(html);
  walker.walk(*tree.document);
  return walker.take();
}

}  // namespace heed::translate
