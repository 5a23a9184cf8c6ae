// Translation of text: order, splitting, batch invariance, scores, and agreement with Hugging Face.
#include "translate/translator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "models/directory/loaded_model.h"
#include "reference.h"
#include "search/test_seq2seq.h"
#include "search/test_tokenizer.h"
#include "text/terms/protected_spans.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

struct Bench {
  search::TinyTransformer tiny{1, static_cast<int64_t>(search::small_tokenizer().size())};
  ThreadPool pool{2};
  Translator translator(TranslatorOptions options = {}) {
    return {tiny.model, tiny.context(), search::small_tokenizer(), pool, std::move(options)};
  }
};

std::vector<std::string> some_lines() {
  std::vector<std::string> lines;
  for (size_t n = 0; n < 30; ++n) lines.push_back(search::training_lines()[n * 7].substr(0, 8 + 5 * (n % 7)));
  lines[4] = "";
  lines[9] = "  \t ";
  lines[12] =
      "The house sees. The river likes. " + search::training_lines()[3] + " " + search::training_lines()[99];
  lines[29] = "";
  return lines;
}

void expect_same(const std::vector<Translation>& actual, const std::vector<Translation>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t n = 0; n < actual.size(); ++n) {
    EXPECT_EQ(actual[n].source, expected[n].source);
    ASSERT_EQ(actual[n].candidates.size(), expected[n].candidates.size());
    for (size_t rank = 0; rank < actual[n].candidates.size(); ++rank) {
      EXPECT_EQ(actual[n].candidates[rank].text, expected[n].candidates[rank].text);
      EXPECT_EQ(actual[n].candidates[rank].score, expected[n].candidates[rank].score);
      EXPECT_EQ(actual[n].candidates[rank].ids, expected[n].candidates[rank].ids);
      EXPECT_EQ(actual[n].candidates[rank].alignment, expected[n].candidates[rank].alignment);
    }
  }
}

TEST(Translator, DoesNotDependOnThreadsWindowsAndBudgets) {
  Bench bench;
  for (const bool sample : {false, true}) {
    TranslatorOptions options;
    options.search.nbest = 2;
    options.search.sample = sample;
    options.align = true;
    options.max_part_tokens = 24;
    const auto expected = bench.translator(options).translate(some_lines());
    for (const int threads : {1, 4}) {
      for (const size_t window : {1, 7, 100}) {
        ThreadPool pool(threads);
        options.window = window;
        options.budget = {.rows = 4 * window, .source_tokens = 30 * window};
        const Translator other(bench.tiny.model, bench.tiny.context(), search::small_tokenizer(), pool,
                               options);
        expect_same(other.translate(some_lines()), expected);
      }
    }
  }
}

TEST(Translator, KeepsOrderAndBlankLines) {
  Bench bench;
  const auto lines = some_lines();
  const auto translations = bench.translator().translate(lines);
  ASSERT_EQ(translations.size(), lines.size());
  std::set<std::string> distinct;
  for (size_t n = 0; n < lines.size(); ++n) {
    EXPECT_EQ(translations[n].source, lines[n]);
    const bool blank = strip(lines[n]).empty();
    EXPECT_EQ(translations[n].best().text.empty(), blank) << n;
    EXPECT_EQ(translations[n].best().ids.empty(), blank) << n;
    EXPECT_EQ(translations[n].candidates.size(), 1u);
    distinct.insert(translations[n].best().text);
  }
  EXPECT_GT(distinct.size(), 5u);  // so that another order would be detected
}

TEST(Translator, PartsOfALineAreTranslatedSeparately) {
  Bench bench;
  TranslatorOptions options;
  options.split_sentences = true;
  const Translator translator = bench.translator(options);
  const std::string first = search::training_lines()[10], second = search::training_lines()[200];
  const auto together = translator.translate(first + "  " + second);
  const auto a = translator.translate(first), b = translator.translate(second);
  EXPECT_EQ(together.best().text, a.best().text + "  " + b.best().text);
  EXPECT_DOUBLE_EQ(together.best().log_probability, a.best().log_probability + b.best().log_probability);
  EXPECT_EQ(together.best().ids.size(), a.best().ids.size() + b.best().ids.size());
  EXPECT_EQ(together.source_pieces.size(), a.source_pieces.size() + b.source_pieces.size());
  // Unsplit, they are one sentence to the model.
  EXPECT_NE(bench.translator().translate(first + "  " + second).best().text, together.best().text);
}

TEST(Translator, TranslatesALineOfAnyLength) {
  Bench bench;  // the model has 64 positions
  std::string words;
  for (int n = 0; n < 200; ++n) words += "garden ";
  for (const int64_t most : {0, 20, 128}) {
    TranslatorOptions options;
    options.max_part_tokens = most;
    options.align = true;
    const auto translation = bench.translator(options).translate(words);
    EXPECT_GT(translation.source_pieces.size(), 200u);
    EXPECT_FALSE(translation.best().text.empty());
  }
  EXPECT_FALSE(bench.translator().translate(std::string(5000, 'x')).best().ids.empty());
  EXPECT_FALSE(bench.translator().translate("broken \xFF\xC3 text").best().ids.empty());
}

TEST(Translator, EveryTranslationBeginsWithThePrefix) {
  Bench bench;
  TranslatorOptions options;
  options.constraints.prefix = "The old";
  for (const auto& translation : bench.translator(options).translate(some_lines())) {
    if (!translation.best().ids.empty()) {
      EXPECT_TRUE(translation.best().text.starts_with("The old")) << translation.best().text;
    }
  }
}

TEST(Translator, EveryTranslationContainsTheRequiredTexts) {
  Bench bench;
  TranslatorOptions options;
  options.search.nbest = 2;
  options.split_sentences = true;
  const std::vector<std::string> lines{search::training_lines()[3],
                                       "The house sees. The river likes. The letter finds."};
  const auto missing = [&](const std::vector<Translation>& translations, const std::string& text) {
    size_t count = 0;
    for (const Translation& translation : translations) {
      for (const Candidate& candidate : translation.candidates)
        count += count_phrase(candidate.text, text) == 0 ? 1 : 0;
    }
    return count;
  };
  const auto free = bench.translator(options).translate(lines);
  EXPECT_EQ(missing(free, "garden") + missing(free, "old teacher"),
            8U);  // the model writes neither by itself
  options.constraints.required = {"garden", "old teacher"};
  const auto required = bench.translator(options).translate(lines);
  EXPECT_EQ(missing(required, "garden"), 0U);
  EXPECT_EQ(missing(required, "old teacher"), 0U);
  for (const Translation& each : required) EXPECT_THAT(each.warnings, testing::IsEmpty());
  // Where there is no room, or nothing to translate, the user is told.
  TranslatorOptions narrow = options;
  narrow.search.max_length = 2;
  for (const char* line : {"The house sees.", "12"}) {
    EXPECT_THAT(bench.translator(narrow).translate(line).warnings,
                testing::Contains("the translation lacks \"old teacher\""))
        << line;
  }
  EXPECT_THAT(bench.translator(narrow).translate("").warnings, testing::IsEmpty());
  // Of several sentences, the text goes where it costs the least: in no other place is the sum larger.
  options.search.nbest = 1;
  options.constraints.required = {"garden"};
  const double together = bench.translator(options).translate(lines[1]).best().log_probability;
  const std::vector<std::string> sentences{"The house sees.", "The river likes.", "The letter finds."};
  double least = std::numeric_limits<double>::infinity();
  TranslatorOptions plain = options;
  plain.constraints = {};
  for (size_t with = 0; with < sentences.size(); ++with) {
    double sum = 0;
    for (size_t n = 0; n < sentences.size(); ++n) {
      sum += bench.translator(n == with ? options : plain).translate(sentences[n]).best().log_probability;
    }
    least = std::min(least, -sum);
  }
  EXPECT_NEAR(-together, least, 1e-4);
}

TEST(Translator, RefusesConstraintsThatContradictEachOther) {
  Bench bench;
  const auto message = [&](const search::Constraints& constraints) {
    TranslatorOptions options;
    options.constraints = constraints;
    try {
      bench.translator(options);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message({.prefix = "The Garden", .forbidden = {"garden"}}), testing::HasSubstr("prefix"));
  EXPECT_THAT(message({.required = {"old garden"}, .forbidden = {"garden"}}),
              testing::HasSubstr("old garden"));
  EXPECT_THAT(message({.required = {" "}}), testing::HasSubstr("blank"));
  EXPECT_THAT(message({.required = {"\u200b"}}), testing::HasSubstr("blank"));
  EXPECT_THAT(message({.required = {"\u2581"}}), testing::HasSubstr("blank"));
  EXPECT_THAT(message({.forbidden = {""}}), testing::HasSubstr("blank"));
}

TEST(Translator, ScoringAgreesWithSearch) {
  Bench bench;
  TranslatorOptions options;
  options.search.max_length_factor = 0;
  options.search.max_length = 60;
  const Translator translator = bench.translator(options);
  const search::SearchOptions& search = options.search;
  for (const auto& translation : translator.translate({some_lines()[0], some_lines()[1]})) {
    const search::ScoringPair pair{search::small_tokenizer().encode_source(translation.source).ids,
                                   translation.best().ids};
    const auto scores =
        search::score_pairs(bench.tiny.model, bench.tiny.context(), search, {&pair, 1}).front();
    ASSERT_EQ(scores.size(), pair.target.size());
    for (size_t t = 0; t + 1 < scores.size(); ++t) {  // the end may have been forced
      EXPECT_NEAR(scores[t], translation.best().log_probabilities[t], 1e-4);
    }
  }
}

TEST(Translator, ScoringIsBatchInvariant) {
  Bench bench;
  const Translator translator = bench.translator();
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t n = 0; n < 40; ++n)
    pairs.emplace_back(search::training_lines()[n], search::training_lines()[n + 50]);
  pairs[3] = {"", ""};
  const auto scores = translator.score(pairs);
  ASSERT_EQ(scores.size(), pairs.size());
  for (size_t n = 0; n < pairs.size(); n += 3) {
    const TargetScore alone = translator.score({pairs[n]}).front();
    EXPECT_EQ(alone.ids, scores[n].ids);
    EXPECT_EQ(alone.pieces.back(), "</s>");
    EXPECT_EQ(alone.pieces.size(), alone.log_probabilities.size());
    EXPECT_NEAR(alone.log_probability, scores[n].log_probability, 1e-4);
    double sum = 0;
    for (const float log_probability : alone.log_probabilities) sum += log_probability;
    EXPECT_NEAR(alone.log_probability, sum, 1e-9);
    EXPECT_LT(alone.log_probability, 0);
  }
  EXPECT_TRUE(translator.score({}).empty());
  std::string endless;
  for (int n = 0; n < 100; ++n) endless += "river ";
  EXPECT_THROW(translator.score({{endless, "x"}}), Error);
}

TEST(Translator, AlignsTheWordsOfEveryCandidate) {
  Bench bench;
  TranslatorOptions options;
  options.align = true;
  options.split_sentences = true;
  options.search.nbest = options.search.beam_size = 3;
  size_t links = 0;
  for (const auto& translation : bench.translator(options).translate(some_lines())) {
    const auto source_words = static_cast<int>(split_whitespace(translation.source).size());
    if (source_words > 0) {
      EXPECT_EQ(translation.candidates.size(), 3u);
    }
    for (const Candidate& candidate : translation.candidates) {
      const auto target_words = static_cast<int>(split_whitespace(candidate.text).size());
      // Words may be unlinked. Alternatives of an untrained model contain white-space bytes, which do
      // not separate pieces.
      if (&candidate == &translation.best()) {
        EXPECT_LE(static_cast<int>(candidate.alignment.size()), target_words) << candidate.text;
      }
      links += candidate.alignment.size();
      for (const auto& [from, to] : candidate.alignment) {
        EXPECT_TRUE(from >= 0 && from < source_words);
        EXPECT_TRUE(to >= 0 && to < target_words);
      }
    }
  }
  EXPECT_GT(links, 0u);
}

TEST(Translator, ProgressAndCancellation) {
  Bench bench;
  TranslatorOptions options;
  options.window = 10;
  const Translator translator = bench.translator(options);
  const auto lines = some_lines();
  std::atomic<bool> cancelled = false;
  std::vector<size_t> told;
  std::vector<double> bytes;
  size_t at = 0, taken = 0;
  const NextLine next = [&](std::string& line) { return at < lines.size() && (line = lines[at++], true); };
  Translator::Control control;
  control.progress = [&](const Translator::Progress& done) {
    told.push_back(done.lines);
    bytes.push_back(done.bytes);
  };
  control.stop = Stop(&cancelled);
  translator.translate(
      next, [&](const Translation&) { ++taken; }, control);
  EXPECT_EQ(taken, lines.size());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), lines.size());
  size_t all_bytes = 0;
  for (const std::string& line : lines) all_bytes += line.size() + 1;
  EXPECT_TRUE(std::is_sorted(bytes.begin(), bytes.end()));
  EXPECT_NEAR(bytes.back(), static_cast<double>(all_bytes), 1e-6 * static_cast<double>(all_bytes));

  at = taken = 0;
  EXPECT_THROW(translator.translate(
                   next, [&](const Translation&) { cancelled = ++taken == 10; }, control),
               Cancelled);
  EXPECT_EQ(taken, 10u);
}

TEST(Translator, RefusesInvalidOptions) {
  Bench bench;
  const search::TinyTransformer other(1, 97);
  EXPECT_THROW(Translator(other.model, other.context(), search::small_tokenizer(), bench.pool), Error);
  TranslatorOptions options;
  options.max_part_tokens = 3;
  EXPECT_THROW(bench.translator(options), Error);
  options = {};
  options.search.beam_size = 0;
  EXPECT_THROW(bench.translator(options), Error);
}

TEST(HuggingFaceTranslations, AreTheSame) {
  if (fixture_cases("").empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : fixture_cases("")) {
    const ReferenceCase reference(name);
    if (!reference.json().contains("search") || !reference.json()["search"].contains("beam")) continue;
    const auto& search = reference.json()["search"];
    const std::string folder = (reference.folder() / "model").string();
    const auto loaded = models::load_model(folder);
    const TranslationTokenizer tokenizer = TranslationTokenizer::load(folder);
    TranslatorOptions options;
    options.search = search::search_options_of(loaded);
    options.search.beam_size = 1;
    options.search.max_length = search["greedy_max_length"];
    options.search.max_length_factor = 0;
    options.max_part_tokens = 0;
    ThreadPool pool(2);
    const Translator translator(loaded.seq2seq(), loaded.context(), tokenizer, pool, options);
    for (const auto& row : search["greedy"]) {
      const auto translation = translator.translate(row["text"].get<std::string>());
      if (strip(translation.source).empty()) {
        EXPECT_EQ(translation.best().text, "");
      } else if (row["sturdy"].get<bool>()) {
        EXPECT_EQ(translation.best().text, row["decoded"].get<std::string>());
        EXPECT_EQ(translation.best().ids, row["ids"].get<std::vector<int32_t>>());
      }
    }
  }
}

}  // namespace
}  // namespace heed::translate
