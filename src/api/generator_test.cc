#include "heed/generator.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cmath>

#include "base/text/json_file.h"
#include "compare.h"
#include "models/test_models.h"
#include "test_folder.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {
namespace {

/// An untrained model over bytes.
void write_small_model(const std::string& directory) {
  models::write_untrained(directory, models::small_llama(256), 5);
  byte_tokenizer().save(directory);
}

TEST(PublicGenerator, WritesScoresAndLooksInside) {
  const TestFolder folder;
  write_small_model(folder.path());
  const Generator generator(folder.path(), 1);
  std::string shown;
  const GenerateOptions options{.max_tokens = 12};
  const std::string text = generator.generate("Once", options, [&](std::string_view part) { shown += part; });
  EXPECT_EQ(shown, text);
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(generator.generate("Once", options), text);
  EXPECT_EQ(generator.samples("Once", 3, options).size(), 3U);
  // Three bytes behind a first one, about as likely as any of 256.
  EXPECT_NEAR(generator.log_probability("Once"), -3 * std::log(256.0), 1);
  EXPECT_NEAR(generator.perplexity("Once"), std::exp(-generator.log_probability("Once") / 3), 1e-6);
  const Trace trace = generator.attend("Once");
  ASSERT_EQ(trace.decoder.size(), 1U);
  EXPECT_EQ(trace.decoder[0].size(), 2U);
  EXPECT_TRUE(trace.encoder.empty() && trace.cross.empty() && trace.source.empty());
  EXPECT_EQ(trace.decoder_tokens, (std::vector<std::string>{"O", "n", "c", "e"}));
  EXPECT_EQ(trace.target_tokens.size(), 4U);
  EXPECT_EQ(trace.target_tokens[0], "n");  // the first row is where "n" is to be written
  EXPECT_EQ(trace.decoder[0][0].at(0, 0), 1);
  EXPECT_EQ(trace.decoder[0][0].at(0, 1), 0);
  EXPECT_THROW(generator.attend(std::string(41, 'x')), Error);
}

TEST(PublicGenerator, ATextWithoutTokensToScoreHasNoPerplexity) {
  const TestFolder folder;
  write_small_model(folder.path());
  const Generator generator(folder.path(), 1);
  for (const char* text : {"", "A"}) {  // the first token is not scored
    EXPECT_EQ(generator.log_probability(text), 0);
    expect_error(ErrorKind::kUsage, "the texts contain no tokens to score",
                 [&] { generator.perplexity(text); });
  }
}

TEST(PublicGenerator, ContinuesManyPromptsAndStopsWhenCancelled) {
  const TestFolder folder;
  write_small_model(folder.path());
  const Generator generator(folder.path(), 2);
  std::atomic<bool> cancelled{false};
  const GenerateOptions options{.max_tokens = 6, .greedy = true, .cancelled = &cancelled};
  const std::vector<std::string> prompts{"Once", "upon", "a"};
  const std::vector<std::string> texts = generator.generate(prompts, options);
  ASSERT_EQ(texts.size(), 3U);
  EXPECT_EQ(texts[1], generator.generate("upon", options));
  cancelled = true;
  EXPECT_THROW(generator.generate(prompts, options), Cancelled);
  EXPECT_THROW(generator.generate("upon", options), Cancelled);
  EXPECT_THROW(generator.samples("upon", 2, {.cancelled = &cancelled}), Cancelled);
}

}  // namespace
}  // namespace heed
