#include "base/files/model_inventory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "test_folder.h"

namespace heed {
namespace {

using ::testing::ElementsAre;

TEST(ModelInventory, ListsADirectoryOnce) {
  const TestFolder folder;
  folder.write(model_file::kConfig, "{}");
  folder.write("b.npz", "");
  folder.write("a.npz", "");
  const ModelInventory files(folder.path());
  EXPECT_TRUE(files.exists() && files.is_directory());
  EXPECT_TRUE(files.has(model_file::kConfig));
  EXPECT_FALSE(files.has(model_file::kTokenizerJson));
  EXPECT_TRUE(files.has_any({model_file::kTokenizerJson, "a.npz"}));
  EXPECT_FALSE(files.has_any({model_file::kTokenizerJson, "c.npz"}));
  EXPECT_THAT(files.ending_in({".npz", ".pt"}), ElementsAre("a.npz", "b.npz"));
  EXPECT_EQ(files.path(model_file::kConfig), folder.path(model_file::kConfig));
  folder.write(model_file::kTokenizerJson, "{}");
  EXPECT_FALSE(files.has(model_file::kTokenizerJson)) << "what is written later is not there";
}

TEST(ModelInventory, HasDanglingLinksAndFolders) {
  const TestFolder folder;
  std::filesystem::create_symlink("nowhere", folder.path("linked.json"));
  std::filesystem::create_directory(folder.path("1_Pooling"));
  const ModelInventory files(folder.path());
  EXPECT_TRUE(files.has("linked.json"));
  EXPECT_TRUE(files.has("1_Pooling"));
}

TEST(ModelInventory, OfNoDirectoryIsEmpty) {
  const TestFolder folder;
  const ModelInventory missing(folder.path("none")), file(folder.write("file", "")), none;
  EXPECT_FALSE(missing.exists() || missing.is_directory() || none.exists());
  EXPECT_TRUE(file.exists() && !file.is_directory());
  for (const ModelInventory* files : {&missing, &file, &none}) EXPECT_FALSE(files->has(""));
}

}  // namespace
}  // namespace heed
