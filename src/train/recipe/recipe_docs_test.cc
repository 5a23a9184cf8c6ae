// docs/training.md and docs/rnn.md have a row for each key of a recipe, which names the tasks that have the
// key if not all do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "paths.h"
#include "train/recipe/recipe_fields.h"

namespace heed::train {
namespace {

std::vector<RecipeKey> recipe_keys() {
  std::vector<RecipeKey> keys;
  Recipe recipe;
  visit_recipe(recipe, [&](const RecipeKey& key, auto&, const auto&...) { keys.push_back(key); });
  return keys;
}

/// The row of a table whose first column names the key; empty without one.
std::string row_of(const std::string& page, const std::string& key) {
  const std::string name = "`" + key + "`";
  for (size_t begin = 0; begin < page.size();) {
    const size_t end = std::min(page.find('\n', begin), page.size());
    const std::string row = page.substr(begin, end - begin);
    if (row.starts_with("| `") && row.substr(0, row.find(" | ")).find(name) != std::string::npos) return row;
    begin = end + 1;
  }
  return "";
}

TEST(RecipeDocs, HaveARowForEachKey) {
  const std::string folder = source_folder() + "/docs/";
  const std::string pages = read_file(folder + "training.md") + read_file(folder + "rnn.md");
  for (const RecipeKey& key : recipe_keys()) EXPECT_NE(row_of(pages, key.name), "") << key.name;
}

TEST(RecipeDocs, NameTheTasksThatHaveAKey) {
  const std::string page = read_file(source_folder() + "/docs/training.md");
  for (const RecipeKey& key : recipe_keys()) {
    if (key.name.starts_with("augmentation.") || key.name.starts_with("cleaning.")) continue;  // all of them
    for (const models::Task task : key.tasks) {
      EXPECT_THAT(row_of(page, key.name), testing::ContainsRegex("\\([a-z, ]*" + name_in(task_names(), task)))
          << key.name;
    }
  }
}

}  // namespace
}  // namespace heed::train
