#include "heed/model.h"

#include <gtest/gtest.h>

#include "models/test_models.h"
#include "test_folder.h"

namespace heed {
namespace {

using Ids = std::vector<int32_t>;

TEST(PublicModel, EndTokensOfALanguageModel) {
  const TestFolder folder;
  models::write_untrained(folder.path(), models::small_llama(256), 5);
  EXPECT_EQ(Model(folder.path()).end_ids(), Ids{});
  folder.write("generation_config.json", R"({"eos_token_id": [7, 9]})");
  EXPECT_EQ(Model(folder.path()).end_ids(), (Ids{7, 9}));
  models::DecoderOnlyConfig config = models::small_llama(256).config();
  config.end_id = 3;
  models::write_untrained(folder.path(), models::DecoderOnly(config), 5);
  EXPECT_EQ(Model(folder.path()).end_ids(), (Ids{7, 9}));
  folder.write("generation_config.json", "{}");
  EXPECT_EQ(Model(folder.path()).end_ids(), Ids{3});
}

}  // namespace
}  // namespace heed
