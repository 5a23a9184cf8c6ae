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
  options.pairs = {};
  options.source = "a.de";
  options.target = "a.en";
  EXPECT_EQ(trainer_options(options, {}).recipe.corpora.size(), 0U);
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
