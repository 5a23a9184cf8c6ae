// The check of values in a Translator, with models that say a wrong number of their own accord.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "search/test_seq2seq.h"
#include "search/test_tokenizer.h"
#include "translate/documents/document.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kSource = "The teacher sees 14 old windows.";
constexpr const char* kRight = "The teacher finds 14 windows.";
constexpr const char* kWrong = "The teacher finds 41 windows.";

bool begins_with(const std::vector<int32_t>& ids, const std::vector<int32_t>& beginning) {
  return ids.size() > beginning.size() && std::equal(beginning.begin(), beginning.end(), ids.begin());
}

/// A model that prefers the first of some translations, and each of the others as soon as the tokens so far
/// are of no translation before it.
search::FunctionModel model_that_prefers(const std::vector<std::string>& translations,
                                         const TranslationTokenizer& tokenizer = search::small_tokenizer()) {
  std::vector<std::vector<int32_t>> all;
  for (const std::string& text : translations) all.push_back(tokenizer.encode_target(text).ids);
  const auto size = static_cast<int64_t>(tokenizer.size());
  return {size, 64, [=](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
            std::vector<float> logits(static_cast<size_t>(size), -8);
            logits[0] = -4;
            float preference = 8;
            for (const std::vector<int32_t>& each : all) {
              if (begins_with(each, ids)) logits[static_cast<size_t>(each[ids.size()])] = preference;
              preference -= 4;
            }
            return logits;
          }};
}

Translation translate(const search::FunctionModel& model, TranslatorOptions options,
                      const char* source = kSource,
                      const TranslationTokenizer& tokenizer = search::small_tokenizer()) {
  ThreadPool pool(2);
  const Translator translator(model, nn::Context(), tokenizer, pool, std::move(options));
  return translator.translate(source);
}

TranslatorOptions checked(int beam) {
  TranslatorOptions options;
  options.check_values = true;
  options.search.beam_size = beam;
  return options;
}

class CheckedValues : public ::testing::TestWithParam<int> {};

TEST_P(CheckedValues, AreSearchedAgain) {
  const search::FunctionModel model = model_that_prefers({kWrong, kRight});
  TranslatorOptions off = checked(GetParam());
  off.check_values = false;
  EXPECT_EQ(translate(model, off).best().text, kWrong);
  EXPECT_THAT(translate(model, off).warnings, IsEmpty());
  const Translation repaired = translate(model, checked(GetParam()));
  EXPECT_EQ(repaired.best().text, kRight);
  EXPECT_THAT(repaired.warnings, IsEmpty());
}

TEST_P(CheckedValues, AreSearchedAgainBesideProtectedSpans) {
  const TranslationTokenizer& tokenizer = search::small_tokenizer_with_placeholders();
  const search::FunctionModel model = model_that_prefers(
      {"The teacher finds ⟦0⟧ the 41 windows.", "The teacher finds ⟦0⟧ the windows."}, tokenizer);
  TranslatorOptions options = checked(GetParam());
  options.protect_spans = true;
  const Translation repaired = translate(model, options, "The teacher sees windows at a@b.de.", tokenizer);
  EXPECT_EQ(repaired.best().text, "The teacher finds a@b.de the windows.");
  EXPECT_THAT(repaired.warnings, IsEmpty());
}

TEST_P(CheckedValues, AreSearchedAgainBehindCharactersInBytes) {
  const search::FunctionModel model =
      model_that_prefers({"The teacher finds 9–41 windows.", "The teacher finds 9–14 windows."});
  const Translation repaired = translate(model, checked(GetParam()), "The teacher sees 9–14 old windows.");
  EXPECT_EQ(repaired.best().text, "The teacher finds 9–14 windows.");
  EXPECT_THAT(repaired.warnings, IsEmpty());
}

TEST_P(CheckedValues, LeaveAWarningWhereTheRightOneCannotBeSaid) {
  const search::FunctionModel model = model_that_prefers({kWrong, kRight});
  TranslatorOptions options = checked(GetParam());
  options.constraints.forbidden = {"14", "vierzehn"};
  const Translation translation = translate(model, options);
  EXPECT_EQ(translation.best().text, kWrong);
  EXPECT_THAT(translation.warnings,
              ElementsAre("the translation lacks \"14\"", "the source does not say \"41\""));
}

TEST_P(CheckedValues, AreNotSearchedAgainBeyondTheMaximumLength) {
  const search::FunctionModel model = model_that_prefers({kWrong, kRight});
  const auto whole = static_cast<int64_t>(search::small_tokenizer().encode_target(kRight).ids.size());
  for (int64_t length = 2; length <= whole + 1; ++length) {
    TranslatorOptions options = checked(GetParam());
    options.search.max_length = length;
    EXPECT_LE(static_cast<int64_t>(translate(model, options).best().ids.size()), length);
  }
}

TEST_P(CheckedValues, ChangeNothingWhereTheyAgree) {
  const search::FunctionModel model = model_that_prefers({kRight, kWrong});
  TranslatorOptions off = checked(GetParam());
  off.check_values = false;
  const Translation with = translate(model, checked(GetParam())), without = translate(model, off);
  EXPECT_EQ(with.best().ids, without.best().ids);
  EXPECT_EQ(with.best().log_probabilities, without.best().log_probabilities);
  EXPECT_THAT(with.warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(BeamsAndGreedy, CheckedValues, ::testing::Values(1, 4));

TEST_P(CheckedValues, OfPowersAreCopied) {
  const TranslationTokenizer& tokenizer = search::small_tokenizer_with_placeholders();
  const search::FunctionModel model = model_that_prefers({"The teacher finds ⟦0⟧ windows."}, tokenizer);
  TranslatorOptions options = checked(GetParam());
  options.protect_spans = true;
  const Translation translation = translate(model, options, "The teacher sees 10⁶ windows.", tokenizer);
  EXPECT_EQ(translation.best().text, "The teacher finds 10⁶ windows.");
  EXPECT_THAT(translation.warnings, IsEmpty());
}

TEST_P(CheckedValues, OfGivenTextsAreNotWarnedOf) {
  const search::FunctionModel model = model_that_prefers({kWrong});
  TranslatorOptions options = checked(GetParam());
  options.constraints.required = {"41 windows"};
  EXPECT_THAT(translate(model, options, "The teacher sees the windows.").warnings, IsEmpty());
  options.constraints.required = {};
  options.constraints.prefix = "The teacher finds 41";
  EXPECT_THAT(translate(model, options, "The teacher sees the windows.").warnings, IsEmpty());
}

/// A longer source is searched, and a result counts only with all of its weekdays.
TEST(CheckedValues, OfAbbreviatedWeekdaysAreSearchedByName) {
  const TranslationTokenizer& tokenizer = search::small_tokenizer();
  const char* copied = "Mon–Fri offen.";
  const auto translated = [&](const char* by_name) {
    const auto size = static_cast<int64_t>(tokenizer.size());
    const search::FunctionModel model{
        size, 64, [&](const std::vector<int32_t>& source, const std::vector<int32_t>& ids) {
          const bool named = source == tokenizer.encode_source("Open Monday to Friday.").ids;
          const std::vector<int32_t> said = tokenizer.encode_target(named ? by_name : copied).ids;
          std::vector<float> logits(static_cast<size_t>(size), -8);
          logits[0] = -4;
          if (begins_with(said, ids)) logits[static_cast<size_t>(said[ids.size()])] = 8;
          return logits;
        }};
    return translate(model, checked(4), "Open Mon–Fri.");
  };
  const Translation whole = translated("Montag bis Freitag offen.");
  EXPECT_EQ(whole.best().text, "Montag bis Freitag offen.");
  EXPECT_THAT(whole.warnings, IsEmpty());
  const Translation half = translated("Montag-Friday offen.");
  EXPECT_EQ(half.best().text, copied);
  EXPECT_EQ(half.warnings.size(), 2U);
}

TEST(CheckedValues, AreThoseOfEachSentence) {
  const search::FunctionModel model = model_that_prefers({kWrong, kRight});
  TranslatorOptions options = checked(4);
  options.split_sentences = true;
  const Translation translation =
      translate(model, options, "The teacher sees 14 windows. The teacher sees 14 rivers.");
  EXPECT_EQ(translation.best().text, std::string(kRight) + " " + kRight);
}

TEST(CheckedValues, WarnInDocuments) {
  const search::FunctionModel model = model_that_prefers({kWrong});
  TranslatorOptions options = checked(1);
  options.protect_spans = true;
  options.constraints.forbidden = {"14", "vierzehn"};
  ThreadPool pool(1);
  const Translator translator(model, nn::Context(), search::small_tokenizer(), pool, options);
  const std::string right = "<p>The teacher sees 41 windows.</p>",
                    wrong = "<p>The teacher sees 14 windows.</p>";
  const auto documents =
      translate_documents(translator, {right, wrong + wrong, "<p></p>"}, DocumentFormat::kHtml);
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_THAT(documents[0].warnings, IsEmpty());
  const auto lacks = "the translation lacks \"14\"", adds = "the source does not say \"41\"";
  EXPECT_THAT(documents[1].warnings, ElementsAre(lacks, adds, lacks, adds));
  EXPECT_THAT(documents[2].warnings, IsEmpty());
}

const TranslationTokenizer& tokenizer_with_name() {
  static const TranslationTokenizer tokenizer = [] {
    TokenizerTrainOptions options;
    options.source.vocabulary_size = 340;
    options.source.symbols = {"▁Jupiter"};
    options.source_language = "en";
    options.target_language = "de";
    return search::train_tokenizer(options);
  }();
  return tokenizer;
}

/// A model that writes a text whose first token hardly is more probable than the others.
search::FunctionModel model_with_any_beginning(const std::string& text, float preference) {
  const std::vector<int32_t> all = tokenizer_with_name().encode_target(text).ids;
  const auto size = static_cast<int64_t>(tokenizer_with_name().size());
  return {size, 64, [=](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
            std::vector<float> logits(static_cast<size_t>(size), 0);
            if (begins_with(all, ids))
              logits[static_cast<size_t>(all[ids.size()])] = ids.empty() ? preference : 12;
            return logits;
          }};
}

TEST(HallucinatedNames, AreWarnedOf) {
  const std::string text = "Jupiter finds 14 windows.",
                    warning = "the source does not say \"Jupiter\", and the model is not sure of it";
  const search::FunctionModel unsure = model_with_any_beginning(text, 0.5F),
                              sure = model_with_any_beginning(text, 8);
  const auto warnings = [&](const search::FunctionModel& model, const char* source,
                            TranslatorOptions options) {
    const Translation translation = translate(model, std::move(options), source, tokenizer_with_name());
    EXPECT_EQ(translation.best().text, text);
    return translation.warnings;
  };
  const char* source = "The teacher sees 14 old rivers.";
  EXPECT_THAT(warnings(unsure, source, checked(1)), ElementsAre(warning));
  EXPECT_THAT(warnings(sure, source, checked(1)), IsEmpty());
  EXPECT_THAT(warnings(unsure, "JUPITER sees 14 old rivers.", checked(1)), IsEmpty());
  TranslatorOptions required = checked(1), unchecked;
  required.constraints.required = {"Jupiter"};
  EXPECT_THAT(warnings(unsure, source, required), IsEmpty());
  unchecked.search.beam_size = 1;
  EXPECT_THAT(warnings(unsure, source, unchecked), IsEmpty());
}

/// A model whose one head, at the step that reads a token, is at the source token `attended`.
class AlignedModel : public search::FunctionModel {
 public:
  AlignedModel(int64_t vocabulary, Logits logits, int64_t attended)
      : FunctionModel(vocabulary, 64, std::move(logits)), attended_(attended) {}

  Tensor logits(nn::Context& context, const models::Sequences& sources,
                const models::Sequences& inputs) const override {
    if (context.sink != nullptr) {
      const auto queries = static_cast<int64_t>(inputs.ids.size()),
                 keys = static_cast<int64_t>(sources.ids.size());
      std::vector<float> weights(static_cast<size_t>(queries * keys), 0);
      for (int64_t q = 0; q < queries; ++q) weights[static_cast<size_t>(q * keys + attended_)] = 1;
      context.sink->receive({Stack::kCross, 0}, Var(Tensor::from(weights, {1, queries, keys})),
                            ops::AttentionLayout::padded(1, queries, keys), 1);
    }
    return FunctionModel::logits(context, sources, inputs);
  }

 private:
  int64_t attended_;
};

TEST(HallucinatedNames, BecomeThoseOfTheSource) {
  const TranslationTokenizer& tokenizer = tokenizer_with_name();
  const auto size = static_cast<int64_t>(tokenizer.size());
  const std::vector<int32_t> wrong = tokenizer.encode_target("Jupiter finds 14 windows.").ids,
                             right = tokenizer.encode_target("Zara finds 14 windows.").ids;
  const size_t name = tokenizer.target_phrase("Zara").size();
  const auto logits = [=](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
    std::vector<float> next(static_cast<size_t>(size), 0);
    if (begins_with(wrong, ids)) next[static_cast<size_t>(wrong[ids.size()])] = ids.empty() ? 0.5F : 12;
    if (ids.size() >= name && begins_with(right, ids)) next[static_cast<size_t>(right[ids.size()])] = 12;
    return next;
  };
  const auto translated = [&](int64_t attended, std::vector<models::AlignmentHead> heads) {
    TranslatorOptions options = checked(1);
    options.alignment.heads = std::move(heads);
    ThreadPool pool(2);
    const AlignedModel aligned(size, logits, attended);
    const Translator translator(aligned, nn::Context(), tokenizer, pool, std::move(options));
    return translator.translate("Zara sees 14 old rivers.");
  };
  const Translation repaired = translated(0, {{0, 0}});
  EXPECT_EQ(repaired.best().text, "Zara finds 14 windows.");
  EXPECT_THAT(repaired.warnings, IsEmpty());
  // Without heads to align by, or with some that the model lacks, and where the word of the source is no
  // name, the warning stays.
  const auto last = static_cast<int64_t>(tokenizer.encode_source("Zara sees 14 old rivers.").ids.size()) - 2;
  for (const Translation& each : {translated(0, {}), translated(0, {{7, 0}}), translated(last, {{0, 0}})}) {
    EXPECT_EQ(each.best().text, "Jupiter finds 14 windows.");
    EXPECT_EQ(each.warnings.size(), 1U);
  }
}

TEST(CheckedValues, OfSamplesAreOnlyReported) {
  const search::FunctionModel model = model_that_prefers({kWrong});
  TranslatorOptions options = checked(1);
  options.search.sample = true;
  options.search.sampling.temperature = 0.01;
  const Translation translation = translate(model, options);
  EXPECT_EQ(translation.best().text, kWrong);
  EXPECT_THAT(translation.warnings,
              ElementsAre("the translation lacks \"14\"", "the source does not say \"41\""));
}

}  // namespace
}  // namespace heed::translate
