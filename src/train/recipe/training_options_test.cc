#include "train/recipe/training_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/text/option_error.h"
#include "test_folder.h"

namespace heed::train {
namespace {

using ::testing::HasSubstr;

TEST(TrainingOptions, SettingsOverrideTheRecipeFileAndThatThePreset) {
  const TestFolder folder;
  TrainOptions options;
  options.preset = "tiny";
  options.recipe = folder.write("r.toml", "[training]\nseed = 7\nbatch_tokens = 100\n");
  const Recipe recipe = trainer_options(options, {{"training.seed", "8", "test"}}).recipe;
  EXPECT_EQ(recipe.seed, 8U);
  EXPECT_EQ(recipe.batch_tokens, 100);
  options.recipe = "";
  EXPECT_NE(trainer_options(options, {}).recipe.batch_tokens, 100) << "the control";
}

TEST(TrainingOptions, PairsReplaceTheCorporaOfTheRecipe) {
  const TestFolder folder;
  TrainOptions options;
  options.recipe = folder.write("r.toml", "[[corpus]]\npairs = \"in-the-recipe.tsv\"\n");
  EXPECT_EQ(trainer_options(options, {}).recipe.corpora.size(), 1U);
  options.pairs = {"a.tsv"};
  TrainerOptions made = trainer_options(options, {});
  EXPECT_EQ(made.recipe.corpora.size(), 0U);
  EXPECT_EQ(made.data.pairs.pairs, "a.tsv");
  options.pairs = {"a.tsv", "b.tsv"};
  made = trainer_options(options, {});
  EXPECT_FALSE(made.data.is_named());
  ASSERT_EQ(made.recipe.corpora.size(), 2U);
  EXPECT_EQ(made.recipe.corpora[1].pairs, std::filesystem::absolute("b.tsv"));
  options.pairs = {"a.tsv", "sch\xF6n.tsv"};
  expect_error(ErrorKind::kUsage, "is not valid UTF-8", [&] { trainer_options(options, {}); });
  options.pairs = {"sch\xF6n.tsv"};  // which is not in the recipe
  EXPECT_EQ(trainer_options(options, {}).data.pairs.pairs, "sch\xF6n.tsv");
  options.pairs = {};
  options.source = "a.de";
  options.target = "a.en";
  EXPECT_EQ(trainer_options(options, {}).recipe.corpora.size(), 0U);
}

TEST(TrainingOptions, ATrainingThatHasBegunNeedsTheModelOfFromNoLonger) {
  const TestFolder folder;
  const std::string output = folder.path("output");
  std::filesystem::create_directories(output + "/training");
  folder.write("output/training/recipe.toml", R"([model]
arch = "rnn"
[training]
from = "base"
max_length = 30
[schedule]
rate = 0.5
)");
  const std::vector<Setting> from{{"training.from", folder.path("base"), "test"}};
  const auto recipe_of = [&](std::vector<Setting> more = {}) {
    more.insert(more.end(), from.begin(), from.end());
    return trainer_options({.output = output, .preset = "tiny"}, more).recipe;
  };
  expect_error(ErrorKind::kNotFound, folder.path("base"), [&] { recipe_of(); });
  folder.write("output/training/checkpoint.safetensors", "");
  EXPECT_EQ(recipe_of().arch, "rnn");
  EXPECT_EQ(recipe_of().max_length, 30);
  EXPECT_EQ(recipe_of({{"training.max_length", "20", "test"}}).max_length, 20) << "what is given comes first";
  EXPECT_NE(recipe_of().learning_rate, 0.5) << "all else has to be given again";
  std::filesystem::remove(output + "/training/recipe.toml");
  expect_error(ErrorKind::kUsage, "recipe.toml' is missing", [&] { recipe_of(); });
}

TEST(TrainingOptions, OptionsThatContradictEachOtherAreRefused) {
  const auto message = [](const std::function<void(TrainOptions&)>& change) -> std::string {
    TrainOptions options;
    change(options);
    try {
      trainer_options(options, {});
    } catch (const OptionError& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message([](TrainOptions& o) { o.pairs = {"a"}, o.source = "b"; }),
              HasSubstr("exclude each other"));
  EXPECT_THAT(message([](TrainOptions& o) { o.languages = "de"; }), HasSubstr("languages must be two"));
  EXPECT_THAT(message([](TrainOptions& o) { o.languages = "de-"; }), HasSubstr("languages must be two"));
  EXPECT_EQ(message([](TrainOptions& o) { o.languages = "de-en"; }), "");
}

}  // namespace
}  // namespace heed::train
