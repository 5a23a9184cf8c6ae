#include "models/alignment_heads.h"

#include <gtest/gtest.h>

#include "test_folder.h"

namespace heed::models {
namespace {

TEST(AlignmentHeads, KeepOtherGenerationSettings) {
  const TestFolder folder;
  expect_error(ErrorKind::kNotFound, "generation_config.json", [&] {
    write_alignment_heads(folder.path(), {{1, 0}});
  });
  folder.write("generation_config.json", R"({"num_beams": 4, "max_length": 512})");
  const std::vector<AlignmentHead> heads{{1, 0}, {2, 7}};
  write_alignment_heads(folder.path(), heads);
  const JsonObject file = JsonObject::read(folder.path("generation_config.json"));
  EXPECT_EQ(alignment_heads_of(file), heads);
  EXPECT_EQ(file.integer("num_beams"), 4);
  write_alignment_heads(folder.path(), {});
  EXPECT_FALSE(JsonObject::read(folder.path("generation_config.json")).has("alignment_heads"));
}

TEST(AlignmentHeads, MustBePairsOfLayerAndHead) {
  for (const char* bad :
       {"3", "[3]", "[[1]]", "[[1, 2, 3]]", "[[1, -1]]", "[[1.5, 1]]", R"(["a"])", "[[1, 9999]]"}) {
    const JsonObject file =
        JsonObject::parse(std::string(R"({"alignment_heads": )") + bad + "}", "file.json");
    expect_error(ErrorKind::kFormat, "alignment_heads", [&] { alignment_heads_of(file); });
  }
}

}  // namespace
}  // namespace heed::models
