// Fine-tuning of other encoder-decoder families than Marian: the result is a directory of the same family,
// with its tokenizer and its settings of the search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "reference.h"
#include "search/rules/search_options.h"
#include "tasks/model_files.h"
#include "test_folder.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "train/loop/trainer.h"
#include "train/recipe/recipe.h"
#include "train/store/metrics_log.h"

namespace heed {
namespace {

std::string model_of(const std::string& name) {
  return (families_folder() / name / "model").string();
}

train::TrainerOptions further_training(const TestFolder& folder, const std::string& from,
                                       const std::string& output,
                                       const std::map<std::string, std::string>& more = {}) {
  train::TrainerOptions options;
  options.output = folder.path(output);
  options.data.pairs.pairs = options.validation.pairs.pairs =
      folder.write("pairs", "Tom asks me.\tTom fragt mich.\nI swim.\tIch schwimme.\n");
  std::vector<train::Setting> settings;
  for (const auto& [key, value] : std::map<std::string, std::string>{{"training.from", from},
                                                                     {"training.batch_tokens", "256"},
                                                                     {"training.shards", "2"},
                                                                     {"training.max_length", "40"},
                                                                     {"validation.every", "10"},
                                                                     {"schedule.learning_rate", "0.002"}}) {
    settings.push_back({key, value, "test"});
  }
  for (const auto& [key, value] : more) settings.push_back({key, value, "test"});
  options.recipe = train::make_recipe("tiny", "", settings);
  options.threads = 1;
  options.max_steps = 20;
  return options;
}

TEST(Seq2SeqFamilyTraining, FineTunedModelsAreOfTheSameFamily) {
  const auto cases = fixture_cases("seq2seq_families", families_folder());
  if (cases.empty()) GTEST_SKIP() << missing_families();
  const TestFolder folder;
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    const std::string from = model_of(name), output = folder.path("trained");
    std::filesystem::remove_all(output);
    train::TrainerOptions options = further_training(folder, from, "trained");
    train::train(options);
    const auto metrics = train::read_metrics(output + "/training/metrics.jsonl");
    EXPECT_LT(metrics.back().loss, 0.95 * metrics.front().loss);
    const tasks::TranslationModel before = tasks::translation_model(models::load_model(from)),
                                  after = tasks::translation_model(models::load_model(output));
    EXPECT_EQ(after.loaded.model_type, before.loaded.model_type);
    EXPECT_EQ(after.loaded.generation.forced_begin_id, before.loaded.generation.forced_begin_id);
    EXPECT_EQ(after.loaded.generation.forced_end_id, before.loaded.generation.forced_end_id);
    EXPECT_EQ(after.loaded.generation.beams, before.loaded.generation.beams);
    EXPECT_EQ(after.loaded.generation.max_length, before.loaded.generation.max_length);
    EXPECT_EQ(after.tokenizer.size(), before.tokenizer.size());
    EXPECT_EQ(after.tokenizer.encode_target("Tom.").ids, before.tokenizer.encode_target("Tom.").ids);
    options.max_steps = 22;  // goes on
    EXPECT_EQ(train::train(options).resumed_from, 20);
  }
}

// The config of T5 has one rate for all dropouts, of which a recipe may set one.
TEST(Seq2SeqFamilyTraining, ResumesWithTheSameDropouts) {
  const std::string from = model_of("seq2seq_families/t5");
  if (!std::filesystem::exists(from)) GTEST_SKIP() << missing_families();
  const TestFolder folder;
  const auto last_loss = [&](const std::string& output, const std::string& dropout,
                             const std::vector<int64_t>& stops) {
    for (const int64_t stop : stops) {
      train::TrainerOptions options =
          further_training(folder, from, output, {{"model.dropout", dropout}, {"schedule.fit", "false"}});
      options.max_steps = stop;
      train::train(options);
    }
    return train::read_metrics(folder.path(output + "/training/metrics.jsonl")).back().loss;
  };
  const double wanted = last_loss("whole", "0.3", {6});
  EXPECT_EQ(last_loss("resumed", "0.3", {3, 6}), wanted);
  EXPECT_NE(last_loss("other", "0.2", {6}), wanted) << "the control";
}

TEST(Seq2SeqFamilyTraining, TextsAreTokenizedAgainForOtherLanguages) {
  const std::string from = model_of("seq2seq_families/m2m100");
  if (!std::filesystem::exists(from)) GTEST_SKIP() << missing_families();
  const TestFolder folder;
  const std::vector<std::string> languages = TranslationTokenizer::load(from).languages();
  const auto train_pair = [&](const std::string& output, const std::string& source,
                              const std::string& target) {
    train::TrainerOptions options = further_training(folder, from, output);
    options.source_language = source;
    options.target_language = target;
    options.max_steps = 1;
    train::train(options);
    return content_of(folder.path(output + "/training/valid.ids"));
  };
  const std::string &one = languages.front(), &other = languages.back();
  const std::string wanted = train_pair("whole", one, other);
  try {  // which has begun
    train_pair("whole", one, languages[1]);
    ADD_FAILURE() << "resumed with another language";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("is of " + one + "-" + other + "; give the same to resume"));
  }
  EXPECT_NE(train_pair("killed", other, one), wanted) << "the control";
  // Before the first checkpoint.
  std::filesystem::remove(folder.path("killed/training/checkpoint.safetensors"));
  std::filesystem::remove(folder.path("killed/model.safetensors"));
  EXPECT_EQ(train_pair("killed", one, other), wanted);
}

}  // namespace
}  // namespace heed
