#include "io/safetensors/safetensors_hashes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "compare.h"
#include "io/safetensors/safetensors.h"
#include "io/safetensors/test_safetensors_bytes.h"
#include "test_folder.h"

namespace heed {
namespace {

std::vector<std::pair<std::string, Tensor>> two_tensors() {
  return {{"a", Tensor::from<float>({1, 2, 3}, {1, 3})}, {"b", Tensor::from<int8_t>({5, 6}, {2})}};
}

// The hashes are those of Python's xxhash: of b"\x06\0\0\0\0\0\0\0format" and so on, and of the numbers.
constexpr const char* kHashes = "xxh64 e43775b3024d551c 6d50bdacee372b0e e77c8eb5f2cdd680";

TEST(SafetensorsHashes, AreStoredInTheMetadata) {
  const TestFolder folder;
  const std::string path = folder.path("with.safetensors");
  write_safetensors_with_hashes(path, two_tensors(), {{"format", "pt"}});
  const auto file = SafetensorsReader::open(path);
  EXPECT_TRUE(file.has_hashes());
  EXPECT_EQ(file.metadata().at(SafetensorsHashes::kKey), kHashes);
  EXPECT_EQ(file.metadata().at("format"), "pt");
  EXPECT_NO_THROW(file.verify());
  expect_equal(file.read("a"), two_tensors()[0].second, "a");
  expect_equal(file.read_rows("b", 1, 1), Tensor::from<int8_t>({6}, {1}), "a row");
  write_safetensors(path, two_tensors(), {{"format", "pt"}});
  EXPECT_FALSE(SafetensorsReader::open(path).has_hashes());
}

// Every bit, except those that declare the hashes.
TEST(SafetensorsHashes, EveryDamagedBitIsFound) {
  const TestFolder folder;
  const std::string path = folder.path("one.safetensors");
  write_safetensors_with_hashes(path, two_tensors(), {{"format", "pt"}});
  const std::string bytes = content_of(path);
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const size_t data = sizeof header + header;
  size_t padding = 0;
  while (bytes[data - 1 - padding] == ' ') ++padding;
  const std::string says = R"(heed_hashes":"xxh64 )";
  const size_t says_so = bytes.find(says);
  ASSERT_NE(says_so, std::string::npos);
  for (size_t position = 0; position < bytes.size(); ++position) {
    if (position >= data - padding && position < data) continue;  // behind the header; nothing is read there
    if (position >= says_so && position < says_so + says.size()) continue;
    std::string damaged = bytes;
    damaged[position] = static_cast<char>(damaged[position] ^ 4);
    folder.write("one.safetensors", damaged);
    EXPECT_THROW(SafetensorsReader::open(path).verify(), Error) << position;
    if (position >= data) {
      expect_error(ErrorKind::kFormat, position < data + 12 ? "tensor 'a'" : "tensor 'b'", [&] {
        const auto file = SafetensorsReader::open(path);
        float a[3];
        int8_t b[2];
        file.read_into("a", a, {1, 3});
        file.read_into("b", b, {2});
      });
    }
  }
}

TEST(SafetensorsHashes, EveryTypeIsCompared) {
  const TestFolder folder;
  const std::string path = folder.path("half.safetensors");
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16, DType::kFloat64}) {
    write_safetensors_with_hashes(path, {{"a", Tensor::from<float>({1, 2, 3}, {3}).to(dtype)}});
    float a[3];
    EXPECT_NO_THROW(SafetensorsReader::open(path).read_into("a", a, {3}));
    std::string bytes = content_of(path);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    folder.write("half.safetensors", bytes);
    expect_error(ErrorKind::kFormat, "damaged",
                 [&] { SafetensorsReader::open(path).read_into("a", a, {3}); });
    expect_error(ErrorKind::kFormat, "damaged", [&] { SafetensorsReader::open(path).read("a"); });
  }
}

// Tensors without data may stand in another order than they were written in.
TEST(SafetensorsHashes, TensorsWithoutData) {
  const TestFolder folder;
  const std::string path = folder.path("empty.safetensors");
  write_safetensors_with_hashes(path, {{"z", Tensor::zeros({0, 2})},
                                       {"a", Tensor::zeros({0}, DType::kInt8)},
                                       {"m", Tensor::from<int8_t>({1}, {1})}});
  EXPECT_NO_THROW(SafetensorsReader::open(path).verify());
}

// Unknown kinds of hashes are ignored; known ones must be complete.
TEST(SafetensorsHashes, OfOtherKinds) {
  const TestFolder folder;
  const auto open_with = [&](const std::string& hashes) {
    const std::string header = R"({"__metadata__":{"heed_hashes":")" + hashes +
                               R"("},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
    return SafetensorsReader::open(folder.write("x.safetensors", safetensors_bytes(header, 2))).has_hashes();
  };
  EXPECT_FALSE(open_with("sha256 0123"));
  EXPECT_FALSE(open_with(""));
  for (const char* text : {"xxh64", "xxh64 0123", "xxh64 0123456789abcdef", "xxh64 zzzzzzzzzzzzzzzz 0",
                           "xxh64 0123456789abcdef 0123456789abcdef"}) {
    expect_error(ErrorKind::kFormat, "damaged", [&] { open_with(text); });
  }
}

}  // namespace
}  // namespace heed
