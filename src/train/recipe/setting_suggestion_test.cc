#include "train/recipe/setting_suggestion.h"

#include <gtest/gtest.h>

#include "train/test_trainings.h"

namespace heed::train {
namespace {

void expect_suggestion(const std::string& key, const std::string& suggestion,
                       models::Task task = models::Task::kTranslation) {
  const std::string message = suggestion.empty()
                                  ? fmt::format("unknown setting '{}'", key)
                                  : fmt::format("unknown setting '{}'; did you mean '{}'?", key, suggestion);
  expect_error(ErrorKind::kUsage, message, [&] { small_recipe(task, {{key, "1"}}); });
}

TEST(SettingSuggestion, WordsOfOtherToolkits) {
  expect_suggestion("model.dim", "model.width");
  expect_suggestion("model.d_model", "model.width");
  expect_suggestion("n_embd", "model.width");
  expect_suggestion("hidden-size", "model.width");
  expect_suggestion("model.num_attention_heads", "model.heads");
  expect_suggestion("model.intermediate_size", "model.feed_forward_width");
  expect_suggestion("training.batch_size", "training.batch_tokens");
  expect_suggestion("lr", "schedule.learning_rate");
  expect_suggestion("training.warmup_updates", "schedule.warmup_steps");
  expect_suggestion("model.num_layers", "model.encoder_layers' or 'model.decoder_layers");
  expect_suggestion("model.n_layer", "model.layers", models::Task::kLanguageModel);
}

TEST(SettingSuggestion, OtherSectionsAndMisspeltNames) {
  expect_suggestion("width", "model.width");
  expect_suggestion("training.learning_rate", "schedule.learning_rate");
  expect_suggestion("model.widht", "model.width");
  const std::vector<std::string> keys{"model.width"};
  EXPECT_EQ(suggest_setting("model.colour_of_the_sky", keys), "") << "the control: nothing is near";
}

TEST(SettingSuggestion, OnlyKeysOfTheRecipe) {
  const std::vector<std::string> keys{"schedule.learning_rate"};
  EXPECT_EQ(suggest_setting("model.dim", keys), "");
}

}  // namespace
}  // namespace heed::train
