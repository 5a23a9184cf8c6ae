// Property tests: any tensors survive a round trip bit by bit, and no input crashes the reader.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "base/rng.h"
#include "io/safetensors/safetensors.h"
#include "io/safetensors/test_safetensors_bytes.h"
#include "mutated_bytes.h"
#include "test_folder.h"

namespace heed {
namespace {

constexpr DType kAllTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32,   DType::kInt64,
                               DType::kUInt8,   DType::kInt8,    DType::kFloat16, DType::kBFloat16};

/// A tensor of random type, shape and bits, including NaN, sometimes a non-contiguous view.
Tensor arbitrary_tensor() {
  const auto lengths = *rc::gen::resize(
      Shape::kMaxRank, rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 4)));
  const DType dtype = *rc::gen::elementOf(std::vector<DType>(std::begin(kAllTypes), std::end(kAllTypes)));
  const std::vector<int64_t> bounded(lengths.begin(), lengths.begin() + std::min<size_t>(lengths.size(), 6));
  Tensor tensor = Tensor::empty(Shape(bounded), dtype);
  const size_t size = static_cast<size_t>(tensor.size()) * size_of(dtype);
  const auto bits = *rc::gen::container<std::string>(size, rc::gen::arbitrary<char>());
  std::memcpy(tensor.bytes(), bits.data(), size);
  if (tensor.rank() == 0 || tensor.dim(-1) < 2) return tensor;
  return tensor.narrow(-1, 1, *rc::gen::inRange<int64_t>(0, tensor.dim(-1)));
}

std::string bits_of(const Tensor& tensor) {
  const Tensor rows = tensor.clone();
  return {static_cast<const char*>(rows.bytes()), static_cast<size_t>(rows.size()) * size_of(rows.dtype())};
}

RC_GTEST_PROP(SafetensorsProperty, AnythingWrittenIsReadBackBitByBit, ()) {
  static const TestFolder folder;
  const std::string path = folder.path("any.safetensors");
  std::vector<std::pair<std::string, Tensor>> tensors;
  const int count = *rc::gen::inRange(0, 6);
  for (int n = 0; n < count; ++n)
    tensors.emplace_back("t\t\"é\\" + std::to_string(n * 7 % 6), arbitrary_tensor());
  std::map<std::string, std::string> metadata;
  if (*rc::gen::arbitrary<bool>()) metadata = {{"format", "pt"}, {"\n", "\u20ac"}};
  write_safetensors(path, tensors, metadata);
  const auto reader = SafetensorsReader::open(path);
  RC_ASSERT(reader.infos().size() == tensors.size());
  RC_ASSERT(reader.metadata() == metadata);
  for (const auto& [name, tensor] : tensors) {
    const Tensor read = reader.read(name);
    RC_ASSERT(read.dtype() == tensor.dtype());
    RC_ASSERT(read.shape() == tensor.shape());
    RC_ASSERT(bits_of(read) == bits_of(tensor));
  }
}

constexpr std::string_view kHeaderHazards[] = {"18446744073709551615",
                                               "-1",
                                               "1e999",
                                               "9223372036854775807",
                                               "null",
                                               "[[[[",
                                               "\"__metadata__\"",
                                               "{",
                                               "}",
                                               "0.5",
                                               "\xff",
                                               "\\ud800",
                                               "\"dtype\"",
                                               "\"a",
                                               "]",
                                               "F64",
                                               ",",
                                               ":"};

constexpr char kHeader[] =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"c":{"dtype":"BOOL","shape":[],"data_offsets":[32,33]},)"
    R"("d":{"dtype":"U16","shape":[1,1],"data_offsets":[33,35]},"e":{"dtype":"I64","shape":[0],"data_offsets":[35,35]}})";
constexpr size_t kDataSize = 35;

/// Checks the invariants of an accepted header.
void expect_sound(const std::vector<TensorInfo>& tensors, uint64_t data_size) {
  uint64_t covered = 0;
  for (const TensorInfo& tensor : tensors) {
    EXPECT_EQ(tensor.begin, covered);
    covered = tensor.end;
    if (tensor.readable) {
      EXPECT_EQ(static_cast<uint64_t>(tensor.shape.size()) * size_of(tensor.dtype),
                tensor.end - tensor.begin);
    }
  }
  EXPECT_EQ(covered, data_size);
}

TEST(SafetensorsFuzz, HeadersAreRefusedOrSound) {
  Random random(RandomKey::from_seed(20));
  int accepted = 0, refused = 0;
  for (int round = 0; round < 30'000; ++round) {
    const std::string header = mutated_bytes(kHeader, random, kHeaderHazards);
    const uint64_t data_size = random.below(4) == 0 ? random.below(64) : kDataSize;
    try {
      expect_sound(parse_safetensors_header(header, data_size, "x").tensors, data_size);
      ++accepted;
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::kFormat));
      ++refused;
    }
  }
  EXPECT_GT(accepted, 100);  // names and types change without harm
  EXPECT_GT(refused, 10'000);
}

TEST(SafetensorsFuzz, FilesAreRefusedOrRead) {
  const TestFolder folder;
  const std::string whole = safetensors_bytes(kHeader, kDataSize);
  Random random(RandomKey::from_seed(21));
  int read = 0, refused = 0;
  const auto check = [&](const std::string& bytes) {
    const std::string path = folder.write("x.safetensors", bytes);
    try {
      const auto reader = SafetensorsReader::open(path);
      for (const TensorInfo& tensor : reader.infos()) {
        if (!tensor.readable) continue;
        EXPECT_EQ(reader.read(tensor.name).shape(), tensor.shape);
        ++read;
      }
    } catch (const Error& error) {
      EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(ErrorKind::kFormat));
      ++refused;
    }
  };
  for (size_t length = 0; length < whole.size(); ++length) check(whole.substr(0, length));
  EXPECT_EQ(refused, static_cast<int>(whole.size())) << "every file that is cut off must be refused";
  EXPECT_EQ(read, 0);
  for (int round = 0; round < 3000; ++round) check(mutated_bytes(whole, random, kHeaderHazards));
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace heed
