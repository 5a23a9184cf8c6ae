#include "tasks/text_generator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/config/decoder_only_config.h"
#include "models/test_models.h"
#include "search/scoring.h"
#include "tasks/text_scoring.h"
#include "test_folder.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed::tasks {
namespace {

/// An untrained byte model, whose output depends on the prompt.
struct ByteModel : models::ModelWithWeights<models::DecoderOnly> {
  explicit ByteModel(int64_t positions = 64, int32_t end = 0) : ModelWithWeights(config(positions, end)) {
    nn::initialize(model.table(), values, RandomKey::from_seed(3));
    for (float* x = values.flat().data<float>(); x != values.flat().data<float>() + values.flat().size();
         ++x) {
      *x *= 12;  // far from uniform
    }
  }
  static models::DecoderOnlyConfig config(int64_t positions, int32_t end) {
    models::DecoderOnlyConfig c;
    c.family = &models::gpt2_family();
    c.vocabulary = 260;  // four more than the tokenizer has
    c.width = 16;
    c.layers = 2;
    c.heads = 2;
    c.inner_width = 32;
    c.max_length = positions;
    c.end_id = end;
    return c;
  }
  const ModelTokenizer tokenizer = byte_tokenizer();
};

TextGeneratorOptions sampling(int64_t most = 30) {
  TextGeneratorOptions options;
  options.search.sample = true;
  options.search.max_new = most;
  return options;
}

TextGeneratorOptions greedy(int64_t most = 30) {
  TextGeneratorOptions options;
  options.search.beam_size = 1;
  options.search.max_new = most;
  return options;
}

Generation generate(const ByteModel& m, const TextGeneratorOptions& options, const std::string& prompt = "ab",
                    uint64_t number = 0) {
  ThreadPool pool(1);
  const TextGenerator generator(m.model, m.context(), m.tokenizer, pool, options);
  return generator.generate(prompt, number, {});
}

TEST(TextGenerator, StreamingEqualsTheResult) {
  const ByteModel m;
  TextGeneratorOptions beams = greedy();
  beams.search.beam_size = 3;
  for (const TextGeneratorOptions& options : {greedy(), sampling(), beams}) {
    ThreadPool pool(1);
    const TextGenerator generator(m.model, m.context(), m.tokenizer, pool, options);
    std::string shown;
    const Generation made =
        generator.generate("ab", 0, {.show = [&](std::string_view text) { shown += text; }});
    EXPECT_EQ(shown, made.texts.front().text);
    EXPECT_FALSE(shown.empty());
  }
}

TEST(TextGenerator, TheSameSeedGivesTheSameTextOnAnyNumberOfThreads) {
  const ByteModel m;
  TextGeneratorOptions options = sampling();
  options.search.nbest = 3;
  options.window = 4;
  const std::vector<std::string> prompts{"a", "second", "third one", "x", "y", "zz"};
  std::vector<std::vector<Generation>> runs;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    const TextGenerator generator(m.model, m.context(), m.tokenizer, pool, options);
    auto& run = runs.emplace_back();
    size_t at = 0;
    const auto next = [&](std::string& line) {
      if (at == prompts.size()) return false;
      line = prompts[at++];
      return true;
    };
    generator.generate(next, [&](Generation made) { run.push_back(std::move(made)); }, {});
  }
  ASSERT_EQ(runs[0].size(), prompts.size());
  for (size_t n = 0; n < prompts.size(); ++n) {
    EXPECT_EQ(runs[0][n].prompt, prompts[n]);
    for (size_t sample = 0; sample < 3; ++sample) {
      EXPECT_EQ(runs[0][n].texts[sample].ids, runs[1][n].texts[sample].ids);
      EXPECT_EQ(runs[0][n].texts[sample].log_probabilities, runs[1][n].texts[sample].log_probabilities);
    }
    // A prompt by itself, under its number.
    EXPECT_EQ(generate(m, options, prompts[n], n).texts[0].ids, runs[0][n].texts[0].ids);
  }
  options.search.sampling.seed = 2;
  EXPECT_NE(generate(m, options, prompts[0]).texts[0].ids, runs[0][0].texts[0].ids);
}

TEST(TextGenerator, EndReasons) {
  const ByteModel m;
  EXPECT_EQ(generate(m, greedy(5)).texts[0].ending, TextEnding::kLength);
  EXPECT_EQ(generate(m, greedy(5)).texts[0].ids.size(), 5U);
  // 64 positions: two words of the prompt and 62 others are read, and one more is written.
  const GeneratedText full = generate(m, greedy(1000)).texts[0];
  if (full.ending == TextEnding::kPositions) {
    EXPECT_EQ(full.ids.size(), 63U);
  }
  TextGeneratorOptions on = greedy(1000);
  on.ignore_end = true;
  EXPECT_EQ(generate(m, on).texts[0].ending, TextEnding::kPositions);
  // The text ends when the end token is the most probable one.
  const std::vector<int32_t> ids = generate(m, on).texts[0].ids;
  const ByteModel other(64, ids[3]);
  const GeneratedText ended = generate(other, greedy(1000)).texts[0];
  EXPECT_EQ(ended.ending, TextEnding::kEnd);
  EXPECT_LE(ended.ids.size(), 4U);
  EXPECT_EQ(ended.ids.back(), ids[3]);
}

TEST(TextGenerator, StopTextsEndIt) {
  const ByteModel m;
  TextGeneratorOptions options = greedy();
  options.ignore_end = true;
  const GeneratedText whole = generate(m, options).texts[0];
  // The last two consecutive bytes that are valid text.
  size_t at = 0;
  for (size_t n = 1; n + 1 < whole.ids.size(); ++n) {
    if (whole.ids[n] < 128 && whole.ids[n + 1] < 128) at = at == 0 ? n : at;
  }
  ASSERT_GT(at, 0U) << "the model writes no two letters in a row";
  const std::string stop{static_cast<char>(whole.ids[at]), static_cast<char>(whole.ids[at + 1])};
  options.stops = {"never written", stop};
  for (const int beam : {1, 2}) {
    options.search.beam_size = beam;
    ThreadPool pool(1);
    const TextGenerator generator(m.model, m.context(), m.tokenizer, pool, options);
    std::string shown;
    const Generation made =
        generator.generate("ab", 0, {.show = [&](std::string_view text) { shown += text; }});
    const GeneratedText& text = made.texts[0];
    EXPECT_EQ(text.text.find(stop), std::string::npos);
    EXPECT_EQ(shown, text.text);
    if (beam == 1) {
      EXPECT_EQ(text.ending, TextEnding::kStop);
      EXPECT_EQ(text.ids.size(), at + 2);
    }
  }
}

TEST(StopFilter, HoldsBackPossibleStopTexts) {
  const std::vector<std::string> stops{"END", "\n\n"};
  StopFilter filter(stops);
  EXPECT_EQ(filter.push("one E"), "one ");
  EXPECT_EQ(filter.push("N"), "");
  EXPECT_EQ(filter.push("T\n"), "ENT");
  EXPECT_EQ(filter.push("two\nEN"), "\ntwo\n");
  EXPECT_EQ(filter.push("D three"), "");
  EXPECT_EQ(filter.push("four"), "");
  EXPECT_EQ(filter.finish(), "");
  StopFilter other(stops);
  EXPECT_EQ(other.push("x\n"), "x");
  EXPECT_EQ(other.finish(), "\n");
}

TEST(TextGenerator, RepetitionIsPenalizedInPromptAndText) {
  const ByteModel m;
  TextGeneratorOptions options = greedy(1);
  options.ignore_end = true;
  const int32_t first = generate(m, options).texts[0].ids[0];
  // A large penalty excludes tokens of the prompt.
  const std::string prompt = std::string(1, static_cast<char>(first)) + "ab";
  TextGeneratorOptions longer = greedy(40);
  longer.ignore_end = true;
  longer.search.repetition_penalty = 1000;
  const std::vector<int32_t> ids = generate(m, longer, prompt).texts[0].ids;
  std::vector<int32_t> sorted = ids;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end()) << "a token was repeated";
  EXPECT_EQ(std::count(ids.begin(), ids.end(), first), 0);
}

TEST(TextGenerator, RefusesInvalidOptions) {
  const ByteModel m;
  expect_error(ErrorKind::kUsage, "prompt 3 has 65 tokens, but the model's maximum is 64",
               [&] { generate(m, greedy(), std::string(65, 'a'), 2); });
  expect_error(ErrorKind::kUsage, "has no start token", [&] { generate(m, greedy(), ""); });
  TextGeneratorOptions options = greedy();
  options.stops = {""};
  expect_error(ErrorKind::kUsage, "must not be empty", [&] { generate(m, options); });
  options = sampling();
  options.search.sampling.min_p = 2;
  expect_error(ErrorKind::kUsage, "min_p must be a number from 0 to 1", [&] { generate(m, options); });
}

// ---- Scoring ----------------------------------------------------------------------------------------------

/// Counts the rows of logits that are computed.
struct CountingModel : models::DecoderOnly {
  using models::DecoderOnly::DecoderOnly;
  Var vocabulary_logits(nn::Context& context, const Var& hidden) const override {
    rows.push_back(hidden.dim(0));
    return models::DecoderOnly::vocabulary_logits(context, hidden);
  }
  mutable std::vector<int64_t> rows;
};

TEST(TextScoring, LogitsAreComputedForAFewRowsAtATime) {
  const models::ModelWithWeights<CountingModel> m(ByteModel::config(64, 0), 5);
  std::vector<int32_t> ids;
  for (int n = 0; n < 40; ++n) ids.push_back(n * 7 % 256);
  models::Sequences read;
  read.append(std::span(ids).first(39));
  nn::Context context = m.context();
  const Tensor logits = m.model.logits(context, read);  // (39, V)
  const std::vector<float> log_sums = search::log_sums_of(logits);
  for (const size_t first : {1U, 30U, 39U, 40U}) {
    m.model.rows.clear();
    size_t expected = first;
    search::visit_predictions(m.model, m.context(), ids, {.first = first, .at_once = 7 * 260 + 5},
                              [&](const search::Prediction& next) {
                                EXPECT_EQ(next.index, expected++);
                                const float* row = logits.data<float>() +
                                                   static_cast<int64_t>(next.index - 1) * logits.dim(1);
                                ASSERT_EQ(static_cast<int64_t>(next.logits.size()), logits.dim(1));
                                // Products of other numbers of rows may be rounded otherwise.
                                for (size_t id = 0; id < next.logits.size(); ++id)
                                  EXPECT_NEAR(next.logits[id], row[id], 1e-4);
                                EXPECT_NEAR(next.log_sum, log_sums[next.index - 1], 1e-4);
                              });
    EXPECT_EQ(expected, ids.size());
    int64_t rows = 0;
    for (const int64_t each : m.model.rows) {
      EXPECT_LE(each, 7);
      rows += each;
    }
    EXPECT_EQ(rows, static_cast<int64_t>(ids.size() - first));
  }
}

TEST(TextScoring, AgreesWithSearch) {
  const ByteModel m;
  TextGeneratorOptions options = greedy(20);
  options.ignore_end = true;
  options.search.renormalize = false;  // the model's probabilities, including forbidden tokens
  const Generation made = generate(m, options, "abc");
  std::vector<int32_t> ids = made.prompt_ids;
  ids.insert(ids.end(), made.texts[0].ids.begin(), made.texts[0].ids.end());
  const std::vector<float> scores = score_ids(m.model, m.context(), ids);
  ASSERT_EQ(scores.size(), 22U);
  for (size_t n = 0; n < 20; ++n) EXPECT_NEAR(scores[n + 2], made.texts[0].log_probabilities[n], 1e-4);
}

TEST(TextScoring, LongTextsUseASlidingWindow) {
  const ByteModel m(16);
  std::string text;
  for (int n = 0; n < 50; ++n) text.push_back(static_cast<char>('a' + n * 7 % 26));
  const TextScore score = score_text(m.model, m.context(), m.tokenizer, text, {.stride = 4});
  EXPECT_EQ(score.ids.size(), 49U);  // the first is given
  EXPECT_FALSE(score.first_scored);
  EXPECT_EQ(score.bytes, 49U);
  // Token 30 is the 17th that a window reads up to: it began 4, 8, ... tokens into the text.
  const std::vector<int32_t> ids = m.tokenizer.ids(text);
  for (const size_t token : {10U, 20U, 49U}) {
    // Windows begin at 0, 4, 8, ...; the first that reaches the token has the score.
    size_t begin = 0;
    while (begin + 16 < token) begin += 4;
    const std::vector<int32_t> window(ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                      ids.begin() + static_cast<std::ptrdiff_t>(token) + 1);
    const std::vector<float> alone = score_ids(m.model, m.context(), window);
    EXPECT_NEAR(score.log_probabilities[token - 1], alone.back(), 1e-4) << token;
  }
  expect_error(ErrorKind::kUsage, "would skip tokens",
               [&] { score_text(m.model, m.context(), m.tokenizer, text, {.stride = 17}); });
  EXPECT_TRUE(score_text(m.model, m.context(), m.tokenizer, "a").ids.empty());
}

TEST(TextScoring, CountsTheBytesOfScoredTokens) {
  const ByteModel m;
  const ModelTokenizer with_start(
      {.pipeline = m.tokenizer.pipeline().with_frame({0}, {}), .kind = "bytes", .start = 0});
  const auto bytes = [&](const ModelTokenizer& tokenizer, const std::string& text) {
    return score_text(m.model, m.context(), tokenizer, text).bytes;
  };
  for (const std::string text : {"a", "abc", "\u00FCber", "\u2600\uFE0F"}) {
    EXPECT_EQ(bytes(m.tokenizer, text), text.size() - 1) << text;  // a character may begin in a given token
    EXPECT_EQ(bytes(with_start, text), text.size()) << text;
  }
  EXPECT_EQ(bytes(m.tokenizer, ""), 0U);
}

}  // namespace
}  // namespace heed::tasks
