#include "io/weight_files.h"

#include <gtest/gtest.h>

#include "io/safetensors/safetensors.h"
#include "test_folder.h"

namespace heed {
namespace {

void write_shards(const TestFolder& folder) {
  write_safetensors(folder.path("model-1-of-2.safetensors"),
                    {{"a", Tensor::from<float>({1, 2}, {2})}, {"unlisted", Tensor::zeros({1})}});
  write_safetensors(folder.path("model-2-of-2.safetensors"), {{"b", Tensor::from<float>({3, 4, 5}, {3})}});
}

std::string index_of(const std::string& weight_map) {
  return R"({"metadata": {"total_size": 20}, "weight_map": )" + weight_map + "}";
}

TEST(WeightFiles, ReadsOneFile) {
  const TestFolder folder;
  write_safetensors(folder.path("model.safetensors"),
                    {{"b", Tensor::zeros({3})}, {"a", Tensor::zeros({2, 2})}});
  const WeightFiles files = WeightFiles::open(folder.path());
  EXPECT_EQ(files.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files.info("a").shape, Shape({2, 2}));
  EXPECT_EQ(files.bytes(), 7 * 4u);
  expect_error(ErrorKind::kNotFound, "no tensor 'c'", [&] { files.read("c"); });
}

TEST(WeightFiles, ReadsShardsAsOne) {
  const TestFolder folder;
  write_shards(folder);
  folder.write("model.safetensors.index.json",
               index_of(R"({"a": "model-1-of-2.safetensors", "b": "model-2-of-2.safetensors"})"));
  const WeightFiles files = WeightFiles::open(folder.path());
  EXPECT_EQ(files.names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(files.has("unlisted"));
  EXPECT_EQ(files.read("a").to_vector<float>(), (std::vector<float>{1, 2}));
  std::vector<float> target(3);
  files.read_into("b", target.data(), {3});
  EXPECT_EQ(target, (std::vector<float>{3, 4, 5}));
  expect_error(ErrorKind::kShape, "model-2-of-2.safetensors", [&] {
    files.read_into("b", target.data(), {1, 3});
  });
}

TEST(WeightFiles, RefusesAMismatchedIndex) {
  const TestFolder folder;
  write_shards(folder);
  const auto expect_refused = [&](const std::string& index, ErrorKind kind, const std::string& part) {
    folder.write("model.safetensors.index.json", index);
    expect_error(kind, part, [&] { WeightFiles::open(folder.path()); });
  };
  expect_refused("{}", ErrorKind::kFormat, "'weight_map' is missing");
  expect_refused(index_of(R"({"b": "model-1-of-2.safetensors"})"), ErrorKind::kFormat,
                 "is missing in its file");
  expect_refused(index_of(R"({"b": "model-3-of-2.safetensors"})"), ErrorKind::kNotFound,
                 "model-3-of-2.safetensors' is missing");
  expect_refused(index_of(R"({"b": 7})"), ErrorKind::kFormat, "'weight_map.b' is 7, expected a string");
  // Files that are there, but not in this directory.
  expect_refused(index_of(R"({"b": "../)" + std::filesystem::path(folder.path()).filename().string() +
                          R"(/model-2-of-2.safetensors"})"),
                 ErrorKind::kFormat, "must be in the same directory");
  expect_refused(index_of(R"({"b": ")" + folder.path("model-2-of-2.safetensors") + R"("})"),
                 ErrorKind::kFormat, "must be in the same directory");
}

TEST(WeightFiles, ErrorsNameOtherFormats) {
  const TestFolder folder;
  expect_error(ErrorKind::kNotFound, "contains no weights", [&] { WeightFiles::open(folder.path()); });
  expect_error(ErrorKind::kNotFound, "does not exist", [&] { WeightFiles::open(folder.path("none")); });
  folder.write(model_file::kShortlist, "");  // is no model
  expect_error(ErrorKind::kNotFound, "contains no weights", [&] { WeightFiles::open(folder.path()); });
  expect_error(ErrorKind::kFile, "is a file", [&] { WeightFiles::open(folder.write("other.npz", "")); });
  expect_error(ErrorKind::kNotFound, "'other.npz'", [&] { WeightFiles::open(folder.path()); });
  folder.write("model.bin", "");
  expect_error(ErrorKind::kNotFound, "CTranslate2", [&] { WeightFiles::open(folder.path()); });
  folder.write("tf_model.h5", "");
  expect_error(ErrorKind::kNotFound, "save_pretrained", [&] { WeightFiles::open(folder.path()); });
}

}  // namespace
}  // namespace heed
