// Weights of every format written as safetensors, in one file or shards.
#include "cli/files/weight_conversion.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "compare.h"
#include "io/safetensors/safetensors.h"
#include "test_folder.h"

namespace heed {
namespace {

TEST(WeightConversion, LargeWeightsAreSplit) {
  const TestFolder in, out;
  const Tensor a = Tensor::from<float>({1, 2, 3, 4}, {2, 2}), b = Tensor::from<float>({5, 6, 7}, {3}),
               c = Tensor::from<int64_t>({8}, {1});
  write_safetensors(in.path("model.safetensors"), {{"a", a}, {"b", b}, {"c", c}});
  const WeightFiles files = WeightFiles::open(in.path());
  // In float16: 8, 6 and 8 bytes.
  cli::convert_weights(files, out.path(), {DType::kFloat16, 14});
  EXPECT_EQ(SafetensorsReader::open(out.path("model-00001-of-00002.safetensors")).infos().size(), 2U);
  EXPECT_EQ(SafetensorsReader::open(out.path("model-00002-of-00002.safetensors")).infos().size(), 1U);
  const WeightFiles split = WeightFiles::open(out.path());
  EXPECT_EQ(split.names(), files.names());
  EXPECT_EQ(split.bytes(), 22U);
  expect_equal(split.read("a"), a.to(DType::kFloat16), "a");
  expect_equal(split.read("b"), b.to(DType::kFloat16), "b");
  expect_equal(split.read("c"), c, "c");

  const TestFolder whole;
  cli::convert_weights(files, whole.path(), {DType::kFloat32, 1 << 20});
  EXPECT_EQ(whole.entries(), 1U);
  expect_equal(WeightFiles::open(whole.path()).read("a"), a, "a");

  const TestFolder single;  // a tensor is never split
  cli::convert_weights(files, single.path(), {DType::kFloat32, 1});
  EXPECT_EQ(single.entries(), 4U);
}

TEST(WeightConversion, RefusesOverflow) {
  const TestFolder in, out;
  write_safetensors(in.path("model.safetensors"), {{"w", Tensor::from<float>({1e6F}, {1})}});
  expect_error(ErrorKind::kNumeric, "overflows in float16", [&] {
    cli::convert_weights(WeightFiles::open(in.path()), out.path(), {.dtype = DType::kFloat16});
  });
}

}  // namespace
}  // namespace heed
