// Fine-tuning of other encoder-decoder families than Marian: the result is a directory of the same family,
// with its tokenizer and its settings of the search.
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
#include "train/loop/trainer.h"
#include "train/recipe/recipe.h"
#include "train/store/metrics_log.h"

namespace heed {
namespace {

TEST(Seq2SeqFamilyTraining, FineTunedModelsAreOfTheSameFamily) {
  const auto cases = fixture_cases("seq2seq_families", families_folder());
  if (cases.empty()) GTEST_SKIP() << missing_families();
  const TestFolder folder;
  const std::string pairs = folder.write("pairs", "Tom asks me.\tTom fragt mich.\nI swim.\tIch schwimme.\n");
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    const std::string from = (families_folder() / name / "model").string(), output = folder.path("trained");
    std::filesystem::remove_all(output);
    train::TrainerOptions options;
    options.output = output;
    options.data.pairs.pairs = options.validation.pairs.pairs = pairs;
    std::vector<train::Setting> settings;
    for (const auto& [key, value] : std::map<std::string, std::string>{{"training.from", from},
                                                                       {"training.batch_tokens", "256"},
                                                                       {"training.shards", "2"},
                                                                       {"training.max_length", "40"},
                                                                       {"validation.every", "10"},
                                                                       {"schedule.learning_rate", "0.002"}}) {
      settings.push_back({key, value, "test"});
    }
    options.recipe = train::make_recipe("tiny", "", settings);
    options.threads = 1;
    options.max_steps = 20;
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

}  // namespace
}  // namespace heed
