#include "io/safetensors/safetensors.h"

#include <gtest/gtest.h>

#include <thread>

#include "io/safetensors/test_safetensors_bytes.h"
#include "test_folder.h"

namespace heed {
namespace {

// What the reference implementation (safetensors 0.8.0, Python 3.11) writes for the tensors of
// golden_tensors():
//
//   import ml_dtypes, numpy as np
//   from safetensors.numpy import save
//   save({"b.half": np.array([1, -0.5, 65504], np.float16),
//         "ids": np.array([[1, -2], [3, 1 << 40]], np.int64),
//         "a": np.array([[1.5, -2.25, 3]], np.float32),
//         "scalars": np.array(2.5),
//         "empty": np.zeros((0, 4), np.float32),
//         "b.brain": np.array([1, -3], ml_dtypes.bfloat16),
//         "i8": np.array([-128, 127], np.int8),
//         "u8": np.array([255], np.uint8),
//         "i32": np.array([-7], np.int32),
//         "ü \"\n": np.array([1], np.uint8)},
//        {"format": "pt"})
constexpr char kGoldenHeader[] =
    R"({"__metadata__":{"format":"pt"},"ids":{"dtype":"I64","shape":[2,2],"data_offsets":[0,32]},)"
    R"("scalars":{"dtype":"F64","shape":[],"data_offsets":[32,40]},)"
    R"("a":{"dtype":"F32","shape":[1,3],"data_offsets":[40,52]},)"
    R"("empty":{"dtype":"F32","shape":[0,4],"data_offsets":[52,52]},)"
    R"("i32":{"dtype":"I32","shape":[1],"data_offsets":[52,56]},)"
    R"("b.brain":{"dtype":"BF16","shape":[2],"data_offsets":[56,60]},)"
    R"("b.half":{"dtype":"F16","shape":[3],"data_offsets":[60,66]},)"
    R"("i8":{"dtype":"I8","shape":[2],"data_offsets":[66,68]},)"
    R"("u8":{"dtype":"U8","shape":[1],"data_offsets":[68,69]},)"
    R"("ü \"\n":{"dtype":"U8","shape":[1],"data_offsets":[69,70]}}       )";
constexpr char kGoldenData[] =
    "0100000000000000feffffffffffffff0300000000000000000000000001000000000000000004400000c03f000010c000004040"
    "f9ffffff"
    "803f40c0003c00b8ff7b807fff01";

std::string golden_bytes() {
  std::string bytes = safetensors_bytes(kGoldenHeader, 0);
  for (const char* digits = kGoldenData; *digits != '\0'; digits += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits, 2), nullptr, 16));
  }
  return bytes;
}

std::vector<std::pair<std::string, Tensor>> golden_tensors() {
  return {{"b.half", Tensor::from<float>({1, -0.5, 65504}, {3}).to(DType::kFloat16)},
          {"ids", Tensor::from<int64_t>({1, -2, 3, int64_t{1} << 40}, {2, 2})},
          {"a", Tensor::from<float>({1.5, -2.25, 3}, {1, 3})},
          {"scalars", Tensor::from<double>({2.5}, {})},
          {"empty", Tensor::empty({0, 4})},
          {"b.brain", Tensor::from<float>({1, -3}, {2}).to(DType::kBFloat16)},
          {"i8", Tensor::from<int8_t>({-128, 127}, {2})},
          {"u8", Tensor::from<uint8_t>({255}, {1})},
          {"i32", Tensor::from<int32_t>({-7}, {1})},
          {"ü \"\n", Tensor::from<uint8_t>({1}, {1})}};
}

TEST(Safetensors, ReadsWhatTheReferenceImplementationWrites) {
  const TestFolder folder;
  const auto reader = SafetensorsReader::open(folder.write("golden.safetensors", golden_bytes()));
  EXPECT_EQ(reader.metadata(), (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(reader.infos().size(), golden_tensors().size());
  for (const auto& [name, expected] : golden_tensors()) {
    const Tensor actual = reader.read(name);
    EXPECT_EQ(actual.dtype(), expected.dtype()) << name;
    EXPECT_EQ(actual.shape(), expected.shape()) << name;
    EXPECT_EQ(actual.to_vector<double>(), expected.to_vector<double>()) << name;
  }
}

TEST(Safetensors, WritesTheBytesOfTheReferenceImplementation) {
  const TestFolder folder;
  const std::string path = folder.path("written.safetensors");
  write_safetensors(path, golden_tensors(), {{"format", "pt"}});
  EXPECT_EQ(content_of(path), golden_bytes());
}

TEST(Safetensors, WritesStridedTensorsInRowMajorOrder) {
  const TestFolder folder;
  const std::string path = folder.path("strided.safetensors");
  const Tensor matrix = Tensor::from<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {3, 4});
  const Tensor middle = matrix.narrow(1, 1, 2);
  ASSERT_FALSE(middle.is_contiguous());
  write_safetensors(path, {{"middle", middle}});
  EXPECT_EQ(SafetensorsReader::open(path).read("middle").to_vector<float>(),
            (std::vector<float>{1, 2, 5, 6, 9, 10}));
}

TEST(Safetensors, ReadsBooleansAsBytesAndListsTypesItCannotRead) {
  const TestFolder folder;
  const auto reader = SafetensorsReader::open(folder.write(
      "types.safetensors", safetensors_bytes(R"({"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},)"
                                             R"("wide":{"dtype":"U16","shape":[1],"data_offsets":[2,4]},)"
                                             R"("new":{"dtype":"F4","shape":[4],"data_offsets":[4,6]}})",
                                             6)));
  EXPECT_EQ(reader.read("mask").dtype(), DType::kUInt8);
  EXPECT_EQ(reader.read("mask").to_vector<uint8_t>(), (std::vector<uint8_t>{0, 1}));
  EXPECT_FALSE(reader.info("new").readable);
  expect_error(ErrorKind::kFormat, "'wide'", [&] { reader.read("wide"); });
  expect_error(ErrorKind::kFormat, "F4", [&] { reader.read("new"); });
  float target = 0;
  expect_error(ErrorKind::kFormat, "U16", [&] { reader.read_into("wide", &target, {1}); });
  expect_error(ErrorKind::kFormat, "BOOL", [&] { reader.read_into("mask", &target, {2}); });
}

TEST(Safetensors, ReadsFloatsOfAnyWidthIntoFloats) {
  // More elements than a conversion chunk, and not a multiple of it.
  const int64_t count = 300'001;
  std::vector<float> values(count);
  for (int64_t n = 0; n < count; ++n) values[n] = static_cast<float>(n % 255 - 127) / 64;  // exact in 8 bits
  const TestFolder folder;
  const std::string path = folder.path("floats.safetensors");
  const Tensor exact = Tensor::from(values, {count});
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    tensors.emplace_back(name_of(dtype), exact.to(dtype));
  }
  write_safetensors(path, tensors);
  const auto reader = SafetensorsReader::open(path);
  for (const auto& [name, tensor] : tensors) {
    std::vector<float> read(count + 1, 42);
    reader.read_into(name, read.data(), {count});
    EXPECT_EQ(read.back(), 42) << name << " wrote past its end";
    read.pop_back();
    EXPECT_EQ(read, values) << name;
  }
}

TEST(Safetensors, ChecksNameAndShapeBeforeItReads) {
  const TestFolder folder;
  const std::string path = folder.path("weights.safetensors");
  write_safetensors(path, {{"encoder.weight", Tensor::zeros({2, 3})}});
  const auto reader = SafetensorsReader::open(path);
  std::vector<float> target(6, 42);
  expect_error(ErrorKind::kShape, "the shape (2, 3), expected (3, 2)", [&] {
    reader.read_into("encoder.weight", target.data(), {3, 2});
  });
  expect_error(ErrorKind::kShape, "encoder.weight",
               [&] { reader.read_into("encoder.weight", target.data(), {6}); });
  expect_error(ErrorKind::kNotFound, "did you mean 'encoder.weight'?", [&] {
    reader.read_into("encoder.wieght", target.data(), {2, 3});
  });
  expect_error(ErrorKind::kNotFound, path, [&] { reader.read("bias"); });
  EXPECT_EQ(target, std::vector<float>(6, 42));
  reader.read_into("encoder.weight", target.data(), {2, 3});
  EXPECT_EQ(target, std::vector<float>(6, 0));
}

TEST(Safetensors, IsReadFromSeveralThreads) {
  const TestFolder folder;
  const std::string path = folder.path("shared.safetensors");
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (int n = 0; n < 8; ++n) {
    tensors.emplace_back(std::to_string(n),
                         Tensor::from(std::vector<float>(5000, static_cast<float>(n)), {5000}));
  }
  write_safetensors(path, tensors);
  const auto reader = SafetensorsReader::open(path);
  std::vector<char> right(8, 0);
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&, n] {
      right[n] = reader.read(std::to_string(n)).to_vector<float>() ==
                 std::vector<float>(5000, static_cast<float>(n));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, std::vector<char>(8, 1));
}

TEST(Safetensors, RefusesToWriteInvalidNames) {
  const TestFolder folder;
  const std::string path = folder.write("kept.safetensors", "as it was");
  const Tensor one = Tensor::zeros({1});
  expect_error(ErrorKind::kUsage, "'a'", [&] { write_safetensors(path, {{"a", one}, {"a", one}}); });
  expect_error(ErrorKind::kUsage, "__metadata__", [&] { write_safetensors(path, {{"__metadata__", one}}); });
  expect_error(ErrorKind::kText, "UTF-8", [&] { write_safetensors(path, {{"\xff", one}}); });
  expect_error(ErrorKind::kText, "UTF-8", [&] { write_safetensors(path, {{"a", one}}, {{"k", "\xc3"}}); });
  expect_error(ErrorKind::kFile, "nowhere", [&] {
    write_safetensors(folder.path("nowhere/x"), {{"a", one}});
  });
  EXPECT_EQ(content_of(path), "as it was");
  EXPECT_EQ(folder.entries(), 1u) << "a temporary file was left";
}

TEST(Safetensors, RefusesDirectoriesAndOtherFiles) {
  const TestFolder folder;
  expect_error(ErrorKind::kNotFound, folder.path("none"),
               [&] { SafetensorsReader::open(folder.path("none")); });
  expect_error(ErrorKind::kFile, "it is a directory", [&] { SafetensorsReader::open(folder.path()); });
  expect_error(ErrorKind::kFormat, "it has 5 bytes",
               [&] { SafetensorsReader::open(folder.write("short", "12345")); });
  expect_error(ErrorKind::kFormat, "truncated or of another type",
               [&] { SafetensorsReader::open(folder.write("text", "this is just a text")); });
}

TEST(Safetensors, CapsTheHeader) {
  const TestFolder folder;
  const std::string path = folder.write("long.safetensors", safetensors_bytes("{}", 0));
  EXPECT_TRUE(SafetensorsReader::open(path).infos().empty());
  // A sparse file, so that the header would fit and only the cap can refuse it.
  const uint64_t length = 100'000'001;
  folder.write("long.safetensors", std::string_view(reinterpret_cast<const char*>(&length), 8));
  std::filesystem::resize_file(path, 8 + length + 100);
  expect_error(ErrorKind::kFormat, "the maximum is 100000000", [&] { SafetensorsReader::open(path); });
}

}  // namespace
}  // namespace heed
