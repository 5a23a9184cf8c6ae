// Protected spans with an untrained model, which copies nothing by itself, with and without placeholder
// pieces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/scoring.h"
#include "search/test_seq2seq.h"
#include "search/test_tokenizer.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

using testing::HasSubstr;

class ProtectedTranslation : public testing::TestWithParam<bool> {
 protected:
  Translator translator(TranslatorOptions options) {
    options.align = true;
    return {tiny_.model, tiny_.context(), tokenizer_, pool_, std::move(options)};
  }

  const TranslationTokenizer& tokenizer_ =
      GetParam() ? search::small_tokenizer_with_placeholders() : search::small_tokenizer();
  search::TinyTransformer tiny_{1, static_cast<int64_t>(tokenizer_.size())};
  ThreadPool pool_{2};
};
INSTANTIATE_TEST_SUITE_P(WithAndWithoutPieces, ProtectedTranslation, testing::Bool());

TEST_P(ProtectedTranslation, ContainsEverySpan) {
  TranslatorOptions options;
  options.protect_spans = true;
  const std::string line = "The house sees %s and https://x.example/a_b?c=D, the old `a b` garden 😀.";
  const Translation translation = translator(options).translate(line);
  for (const char* span : {"%s", "https://x.example/a_b?c=D", "`a b`", "😀"}) {
    EXPECT_THAT(translation.best().text, HasSubstr(span));
  }
  const auto source_words = static_cast<int>(split_whitespace(line).size());
  const auto target_words = static_cast<int>(split_whitespace(translation.best().text).size());
  for (const auto& [from, to] : translation.best().alignment) {
    EXPECT_TRUE(from >= 0 && from < source_words) << from;
    EXPECT_TRUE(to >= 0 && to < target_words) << to;
  }
  EXPECT_EQ(translation.source, line);
  const bool marked = std::ranges::count(translation.source_pieces, "⟦0⟧") > 0;
  EXPECT_EQ(marked, GetParam());
  // Without protection this model keeps nothing.
  EXPECT_EQ(translator({}).translate(line).best().text.find("https://x.example"), std::string::npos);
}

TEST_P(ProtectedTranslation, PlaceholdersInTheTextAreText) {
  TranslatorOptions options;
  options.protect_spans = true;
  const std::string text = translator(options).translate("The ⟦1⟧ house %s sees.").best().text;
  EXPECT_THAT(text, HasSubstr("⟦1⟧"));
  EXPECT_THAT(text, HasSubstr("%s"));
  EXPECT_EQ(text.find("⟦0⟧"), std::string::npos);
}

TEST_P(ProtectedTranslation, ContainsGlossaryTerms) {
  TranslatorOptions options;
  options.protect_spans = true;
  options.glossary = std::make_shared<const Glossary>(Glossary::parse("garden\triver mountain\n", "terms"));
  const auto translations =
      translator(options).translate(std::vector<std::string>{"The garden sees %d.", "The house sees."});
  EXPECT_THAT(translations[0].best().text, HasSubstr("river mountain"));
  EXPECT_THAT(translations[0].best().text, HasSubstr("%d"));
  options.glossary = {};
  EXPECT_EQ(translations[1].best().text, translator(options).translate("The house sees.").best().text);
}

TEST_P(ProtectedTranslation, PlainTextIsUnaffected) {
  if (GetParam()) GTEST_SKIP() << "placeholder pieces are then forbidden, which changes probabilities";
  TranslatorOptions options;
  const Translation without = translator(options).translate(search::training_lines()[7]);
  options.protect_spans = options.true_case = true;
  const Translation with = translator(options).translate(search::training_lines()[7]);
  EXPECT_EQ(with.best().ids, without.best().ids);
  EXPECT_EQ(with.best().log_probabilities, without.best().log_probabilities);
}

TEST_P(ProtectedTranslation, ScoresLeaveOutPlaceholders) {
  const std::pair<std::string, std::string> pair{"The house sees.", "The river sees the garden."};
  const auto protects = translator({.protect_spans = true}).score({pair}),
             plain = translator({}).score({pair});
  EXPECT_EQ(plain[0].log_probabilities, protects[0].log_probabilities);
  if (!GetParam()) return;
  search::SearchOptions options;
  const std::vector<search::ScoringPair> ids{{tokenizer_.encode_source(pair.first).ids, plain[0].ids}};
  EXPECT_NE(plain[0].log_probabilities, search::score_pairs(tiny_.model, tiny_.context(), options, ids)[0]);
}

TEST_P(ProtectedTranslation, CapitalsExceptProtectedSpans) {
  TranslatorOptions options;
  options.protect_spans = options.true_case = true;
  const std::string text = translator(options).translate("THE HOUSE SEES %s THE GARDEN.").best().text;
  const size_t kept = text.find("%s");
  ASSERT_NE(kept, std::string::npos) << text;
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  EXPECT_TRUE(std::none_of(text.begin(), text.begin() + static_cast<int64_t>(kept), is_small)) << text;
}

TEST_P(ProtectedTranslation, DocumentsAreTranslatedTogether) {
  const std::vector<std::string> documents{"<p>The <b>old</b> house.</p><p>The river!</p>", "",
                                           "<i>The teacher sees</i> the garden.", "<code>x</code>"};
  const Translator translator = this->translator({.protect_spans = true});
  const auto together = translate_documents(translator, documents, DocumentFormat::kHtml);
  ASSERT_EQ(together.size(), documents.size());
  for (size_t n = 0; n < documents.size(); ++n) {
    EXPECT_EQ(together[n].text, translate_document(translator, documents[n], DocumentFormat::kHtml).text)
        << n;
  }
  EXPECT_NE(together[0].text, documents[0]);
  EXPECT_EQ(together[3].text, documents[3]);
}

}  // namespace
}  // namespace heed::translate
