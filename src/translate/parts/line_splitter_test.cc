#include "translate/parts/line_splitter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"
#include "base/files/file.h"
#include "search/test_tokenizer.h"
#include "test_folder.h"
#include "text/unicode/whitespace.h"
#include "translate/parts/part_text.h"

namespace heed::translate {
namespace {

using testing::ElementsAre;

/// The source text of each part.
std::vector<std::string> texts_of(const SplitLine& line) {
  std::vector<std::string> texts;
  for (const Encoding& part : line.parts) {
    const size_t begin = part.spans.front().first;
    texts.emplace_back(strip(std::string_view(line.text).substr(begin, part.spans.back().second - begin)));
  }
  return texts;
}

/// Checks the length of all parts, and that only white space separates them.
void expect_whole(const SplitLine& line, size_t most) {
  ASSERT_EQ(line.separators.size(), line.parts.size());
  std::string together, expected;
  for (const std::string& text : texts_of(line)) together += text;
  for (const std::string_view word : split_whitespace(line.text)) expected += word;
  std::erase(together, ' ');
  EXPECT_EQ(together, expected);
  for (const Encoding& part : line.parts) {
    EXPECT_LE(part.ids.size(), most);
    EXPECT_EQ(part.ids.back(), search::small_tokenizer().end_id());
  }
}

TEST(LineSplitter, DoesNotSplitShortLines) {
  const LineSplitter splitter(search::small_tokenizer(), {});
  const std::string line = "The house sees. The river likes the garden.";
  const SplitLine split = splitter.split(line);
  EXPECT_THAT(texts_of(split), ElementsAre(line));
  EXPECT_THAT(split.separators, ElementsAre(""));
  EXPECT_EQ(split.parts[0].ids, search::small_tokenizer().encode_source(line).ids);
}

TEST(LineSplitter, SplitsSentencesIfEnabled) {
  const LineSplitter splitter(search::small_tokenizer(), {.split_sentences = true});
  const SplitLine split = splitter.split("  The house sees.   The river likes the garden. ");
  EXPECT_THAT(texts_of(split), ElementsAre("The house sees.", "The river likes the garden."));
  EXPECT_THAT(split.separators, ElementsAre("", "   "));
}

size_t tokens_of(const std::string& text) {
  return search::small_tokenizer().encode_source(text).ids.size();
}

TEST(LineSplitter, SplitsSentencesOfALineThatIsTooLong) {
  const std::string first = "The house sees the old garden.", second = "The river likes the old letter.";
  const size_t both = tokens_of(first + " " + second);
  EXPECT_THAT(
      texts_of(
          LineSplitter(search::small_tokenizer(), {.max_part_tokens = both - 1}).split(first + " " + second)),
      ElementsAre(first, second));
  EXPECT_THAT(
      texts_of(
          LineSplitter(search::small_tokenizer(), {.max_part_tokens = both}).split(first + " " + second)),
      ElementsAre(first + " " + second));
}

TEST(LineSplitter, SplitsLongSentencesAfterPunctuationOrAtSpaces) {
  const std::string clause = "the teacher paints the old house,",
                    rest = "the teacher paints the river and the window";
  const size_t most = tokens_of(clause + " the old");
  const SplitLine split =
      LineSplitter(search::small_tokenizer(), {.max_part_tokens = most}).split(clause + " " + rest);
  ASSERT_GE(split.parts.size(), 2u);
  EXPECT_EQ(texts_of(split)[0], clause);
  EXPECT_EQ(split.separators[1], " ");
  expect_whole(split, most);
  // Without the comma, as much as fits, in whole words.
  const std::string plain = clause.substr(0, clause.size() - 1) + " ";
  const auto words =
      texts_of(LineSplitter(search::small_tokenizer(), {.max_part_tokens = most}).split(plain + rest));
  EXPECT_TRUE(words[0].starts_with(plain + "the")) << words[0];
  EXPECT_TRUE((plain + rest).starts_with(words[0] + " ")) << words[0];
}

TEST(LineSplitter, LosesNoText) {
  std::string words, letters, accents, chinese, spaces(9000, ' ');
  for (int n = 0; n < 400; ++n) words += search::training_lines()[n % 7].substr(0, 9 + n % 11) + " ";
  for (int n = 0; n < 3000; ++n) {
    letters += static_cast<char>('a' + n % 26);
    accents += "é";
    chinese += n % 20 == 19 ? "。" : "山";
  }
  for (const size_t most : {8, 20, 128}) {
    const LineSplitter splitter(search::small_tokenizer(), {.max_part_tokens = most});
    for (const std::string& line :
         {words, letters, accents, chinese, fmt::format("{}{}{}", words, spaces, letters), spaces + words}) {
      const SplitLine split = splitter.split(line);
      EXPECT_GT(split.parts.size(), 1u);
      expect_whole(split, most);
    }
  }
}

TEST(LineSplitter, JoinsWithSpacesIfThereWereNone) {
  const LineSplitter splitter(search::small_tokenizer(),
                              {.split_sentences = true});  // the target language is German
  EXPECT_THAT(splitter.split("山山。山山。").separators, ElementsAre("", " "));
  const LineSplitter cutting(search::small_tokenizer(), {.max_part_tokens = 8});
  EXPECT_EQ(cutting.split(std::string(200, 'q')).separators[1], "");
}

TEST(LineSplitter, ALineWithoutTokensHasNoParts) {
  const LineSplitter splitter(search::small_tokenizer(), {});
  for (const char* line : {"", "   ", "\t", "\xC2\xA0"})
    EXPECT_TRUE(splitter.split(line).parts.empty()) << line;
}

TEST(LineSplitter, ReadsBrokenTextAsReplacementCharacters) {
  const SplitLine split =
      LineSplitter(search::small_tokenizer(), {.split_sentences = true}).split("The \xFF house.");
  EXPECT_EQ(split.text, "The \xEF\xBF\xBD house.");
  EXPECT_EQ(split.parts.size(), 1u);
}

/// The small tokenizer with these codes of target languages.
TranslationTokenizer with_codes(const std::vector<std::string>& codes) {
  const TestFolder folder;
  search::small_tokenizer().save(folder.path());
  std::string vocabulary = read_file(folder.path("vocab.json"));
  const std::vector<std::string> given_up{"<0xFC>", "<0xFD>", "<0xFE>", "<0xFF>"};  // never in UTF-8
  for (size_t n = 0; n < codes.size(); ++n) {
    vocabulary.replace(vocabulary.find(given_up[n]), given_up[n].size(), codes[n]);
  }
  folder.write("vocab.json", vocabulary);
  return TranslationTokenizer::load(folder.path());
}

TEST(LineSplitter, PutsTheLanguageCodeBeforeEachPart) {
  const TranslationTokenizer tokenizer = with_codes({">>fr<<"});
  const LineSplitter splitter(tokenizer, {.split_sentences = true});
  const SplitLine split = splitter.split(">>fr<< The house sees. The river likes.");
  ASSERT_EQ(split.parts.size(), 2u);
  for (const Encoding& part : split.parts) EXPECT_EQ(part.pieces[0], ">>fr<<");
  EXPECT_EQ(split.text.substr(split.parts[1].spans[1].first, 3), "The");
  EXPECT_EQ(splitter.split("The house >>fr<< sees.").parts[0].ids.front(),
            tokenizer.encode_source("The house").ids.front());
  EXPECT_TRUE(splitter.split(">>fr<<").parts.empty());
}

TEST(LineSplitter, SeparatesAsTheTargetLanguageDoes) {
  const std::string sentences = "The house sees.  The river likes.";
  const auto separator = [&](const TranslationTokenizer& tokenizer, const std::string& line) {
    return LineSplitter(tokenizer, {.max_part_tokens = 40, .split_sentences = true})
        .split(line)
        .separators.at(1);
  };
  const TranslationTokenizer tokenizer = with_codes({">>fra<<", ">>jpn<<", ">>cmn_Hans<<", ">>tha<<"});
  for (const auto& [language, expected] : std::vector<std::pair<std::string, std::string>>{
           {"fra", "  "}, {"jpn", ""}, {"cmn_Hans", ""}, {"tha", "  "}}) {
    const std::string code = ">>" + language + "<< ";
    EXPECT_EQ(separator(tokenizer, code + sentences), expected) << language;
    EXPECT_EQ(separator(tokenizer.with_languages("", language), sentences), expected) << language;
  }
  // Within a sentence, where Thai has no spaces.
  std::string long_sentence;
  for (int n = 0; n < 20; ++n) long_sentence += "the old house ";
  EXPECT_EQ(separator(tokenizer, ">>fra<< " + long_sentence), " ");
  for (const std::string code : {">>tha<< ", ">>jpn<< "}) {
    EXPECT_EQ(separator(tokenizer, code + long_sentence), "") << code;
  }
}

TEST(LineSplitter, RefusesPartsThatAreTooShort) {
  EXPECT_THROW(LineSplitter(search::small_tokenizer(), {.max_part_tokens = 7}), Error);
}

TEST(LineSplitter, WritesNumbersAloneInTheTargetLanguage) {
  const auto split = [](const std::string& text, const ValueLanguage& from, const ValueLanguage& to) {
    const LineSplitter splitter(search::small_tokenizer(),
                                {.protect = true, .source_values = &from, .target_values = &to});
    std::string written;
    for (const LinePart& part : splitter.split(text).parts) written += part.ids.empty() ? part.literal : "?";
    return written;
  };
  EXPECT_EQ(split("1,234.50", english_values(), german_values()), "1.234,50");
  EXPECT_EQ(split(" 99.90 ", english_values(), spanish_values()), "99,90");
  EXPECT_EQ(split("1.234,00 €", german_values(), english_values()), "€1,234.00");
  EXPECT_EQ(split("-12,5 %.", german_values(), english_values()), "-12.5%.");
  EXPECT_EQ(split("2024", german_values(), english_values()), "2024");
  EXPECT_EQ(split("7 2 6-1.", english_values(), german_values()), "7 2 6-1.");
  EXPECT_EQ(split("1. 2. 3.", english_values(), german_values()), "1. 2. 3.");
  EXPECT_EQ(split("$5.25, 1,000.5 m²", english_values(), german_values()), "5,25 Dollar, 1.000,5 m²");
  // Other texts, and numbers that may be read in two ways.
  for (const char* text : {"12.5.", "1,250", "3:45", "12 apples", "1.5 and 2.5", "third"}) {
    EXPECT_EQ(split(text, spanish_values(), english_values()), "?") << text;
  }
}

TEST(LineSplitter, NumbersThatArePartsOfOthersStay) {
  const auto written = [](std::string_view text, const ValueLanguage& from, const ValueLanguage& to) {
    const LineSplitter splitter(search::small_tokenizer(),
                                {.protect = true, .source_values = &from, .target_values = &to});
    std::string result;
    for (const LinePart& part : splitter.split(text).parts) result += part.ids.empty() ? part.literal : "?";
    return result;
  };
  // Lists, and what is too long for a version.
  for (const char* text : {"2024.0.1.7.5.3", "1,2,3", "3,7,12", "1.5,2.5"}) {
    EXPECT_EQ(written(text, english_values(), german_values()), text);
    EXPECT_EQ(written(text, english_values(), spanish_values()), text);
  }
  for (const char* text : {"2024.0.1.7.5.3", "1,2,3", "3,7,12"}) {
    EXPECT_EQ(written(text, german_values(), english_values()), text);
    EXPECT_EQ(written(text, spanish_values(), english_values()), text);
  }
  // Columns, and groups that English does not have.
  EXPECT_EQ(written("120\t130\t140", english_values(), german_values()), "120\t130\t140");
  EXPECT_EQ(written("120\t130\t140", german_values(), english_values()), "120\t130\t140");
  EXPECT_EQ(written("100  200", german_values(), english_values()), "100  200");
  EXPECT_EQ(written("100 200", english_values(), german_values()), "100 200");
  EXPECT_EQ(written("10 000", german_values(), english_values()), "10,000");
  EXPECT_EQ(written("19\u00A0552,88 €", german_values(), english_values()), "€19,552.88");
  EXPECT_EQ(written("10\u202F000", spanish_values(), english_values()), "10,000");
  // Numbers of their own.
  EXPECT_EQ(written("1.5, 2.5", english_values(), german_values()), "1,5, 2,5");
  EXPECT_EQ(written("$1.50,$2.50", english_values(), german_values()), "1,50 Dollar,2,50 Dollar");
}

TEST(PartText, BracketsAreThoseOfThePart) {
  const std::string line = "Haus 3,5 (3,5)";
  LinePart part;
  part.required = {{"3,5", SpanKind::kNumber}};
  part.spans = {{0, 4}, {5, 8}};
  EXPECT_EQ(part_text(part, line, "house ( 3,5"), "house ( 3,5");
  part.spans = {{9, 10}, {10, 14}, {14, 14}};
  EXPECT_EQ(part_text(part, line, "house ( 3,5"), "house (3,5");
}

TEST(LineSplitter, CopiesWhatIsOnlySpans) {
  const LineSplitter splitter(search::small_tokenizer(), {.split_sentences = true, .protect = true});
  std::string emojis;
  for (int n = 0; n < 300; ++n) emojis += "😀";
  for (const std::string& text : {emojis, std::string(20000, 'a'), std::string("😀, 👍!"),
                                  std::string("https://a.example/x www.b.example")}) {
    const SplitLine line = splitter.split(text);
    std::string copied;
    for (const LinePart& part : line.parts) {
      EXPECT_TRUE(part.ids.empty()) << text.substr(0, 20);
      copied += part.literal;
    }
    EXPECT_EQ(copied, text);
  }
}

/// Titles beside each other are no sentence, and models make one of them.
TEST(LineSplitter, BarsDivideALine) {
  const LineSplitter splitter(search::small_tokenizer(), {.split_sentences = true, .protect = true});
  const SplitLine line = splitter.split("| The house | The garden sees |  ");
  ASSERT_EQ(line.parts.size(), 5U);
  EXPECT_EQ(line.parts[0].literal, "|");
  EXPECT_EQ(line.parts[1].ids, splitter.split("The house").parts[0].ids);
  EXPECT_EQ(line.parts[2].literal, "|");
  EXPECT_EQ(line.parts[3].ids, splitter.split("The garden sees").parts[0].ids);
  EXPECT_EQ(line.parts[4].literal, "|");
  EXPECT_THAT(line.separators, ElementsAre("", " ", " ", " ", " "));
  EXPECT_EQ(splitter.split("The house|garden sees").parts.size(), 1U);  // no space
}

/// Hundreds of signs would be as many required texts of a search.
TEST(LineSplitter, SignsDivideALineWithoutLetters) {
  const LineSplitter splitter(search::small_tokenizer(), {.split_sentences = true,
                                                          .protect = true,
                                                          .source_values = &english_values(),
                                                          .target_values = &german_values()});
  std::vector<std::string> literals;
  const SplitLine line = splitter.split("> 2.5 🎉 1,000 ~ 7 ± 1,234,567.25 🎉 1,000,000");
  for (const LinePart& part : line.parts) literals.push_back(part.literal);
  EXPECT_THAT(literals,
              ElementsAre(">", "2,5", "🎉", "1.000", "~", "7", "±", "1.234.567,25", "🎉", "1.000.000"));
  EXPECT_EQ(splitter.split("> 2.5 🎉 1,000 houses").parts.size(), 1U);
}

TEST(LineSplitter, CopiesSpansThatAreLongerThanAWindow) {
  const LineSplitter splitter(search::small_tokenizer(), {.split_sentences = true, .protect = true});
  const std::string base64(6000, 'x');
  const SplitLine line = splitter.split("The house " + base64 + " sees, " + base64 + base64 + ".");
  std::vector<std::string> translated;
  std::vector<size_t> copied;  // bytes
  for (const LinePart& part : line.parts) {
    if (part.ids.empty()) {
      copied.push_back(part.literal.size());
    } else {
      translated.push_back(line.text.substr(part.spans.front().first,
                                            part.spans[part.spans.size() - 2].second - part.spans[0].first));
    }
  }
  EXPECT_THAT(copied, ElementsAre(6000U, 12'000U, 1U));
  EXPECT_THAT(translated, ElementsAre("The house", "sees,"));
}

TEST(LineSplitter, ModelsReadNoSoftHyphens) {
  const LineSplitter splitter(search::small_tokenizer(), {.protect = true, .true_case = true});
  for (const std::string unseen : {"\u00AD", "\u2060", "\uFEFF"}) {
    const SplitLine line = splitter.split(fmt::format("{0}The gar{0}den sees.", unseen)),
                    plain = splitter.split("The garden sees.");
    ASSERT_EQ(line.parts.size(), 1U);
    EXPECT_EQ(line.parts[0].ids, plain.parts[0].ids);
    EXPECT_EQ(line.text.substr(line.parts[0].spans[0].first, 3), "The");
    const SplitLine capitals = splitter.split(fmt::format("THE GAR{}DEN SEES.", unseen));
    EXPECT_EQ(capitals.parts[0].ids, splitter.split("THE GARDEN SEES.").parts[0].ids);
    EXPECT_TRUE(capitals.parts[0].capitals);
  }
  // What is copied keeps them.
  const std::string code = "`a\u00ADb`";
  const SplitLine line = splitter.split("The house sees " + code);
  ASSERT_EQ(line.parts[0].required.size(), 1U);
  EXPECT_EQ(line.parts[0].required[0].text, code);
}

TEST(LineSplitter, LimitsWhatATranslationMustContain) {
  const LineSplitter splitter(search::small_tokenizer(), {.split_sentences = true, .protect = true});
  std::string text = "The house";
  for (int n = 0; n < 40; ++n) text += " 😀 sees";
  const SplitLine line = splitter.split(text);
  size_t required = 0, literal = 0;
  for (const LinePart& part : line.parts) {
    EXPECT_LE(part.required.size(), 8U);
    required += part.required.size();
    literal += part.literal.empty() ? 0 : 1;
  }
  EXPECT_EQ(required + literal, 40U);
  EXPECT_GT(literal, 0U);
}

}  // namespace
}  // namespace heed::translate
