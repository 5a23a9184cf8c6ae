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
  expect_error(ErrorKind::kNumeric, "overflows in float16; use --weights bfloat16", [&] {
    cli::convert_weights(WeightFiles::open(in.path()), out.path(), {.dtype = DType::kFloat16});
  });
  // Beyond the part that is checked at a time.
  std::vector<double> numbers(100'000, 0.5);
  numbers.back() = -1e39;
  write_safetensors(in.path("model.safetensors"), {{"w", Tensor::from(numbers, {2, 50'000})}});
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    expect_error(ErrorKind::kNumeric,
                 std::string("'w' contains -1e+39, which overflows in ") + name_of(dtype) + "; so large",
                 [&] { cli::convert_weights(WeightFiles::open(in.path()), out.path(), {.dtype = dtype}); });
  }
}

TEST(WeightConversion, CopiesAndShapes) {
  const TestFolder in, out;
  const Tensor a = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
  write_safetensors(in.path("model.safetensors"),
                    {{"b", a}, {"final_logits_bias", Tensor::from<float>({5, 6, 7}, {3})}});
  cli::convert_weights(WeightFiles::open(in.path()), out.path(),
                       {.max_shard_bytes = 16, .copies = {{"a", "b"}, {"c", "b"}}});
  EXPECT_EQ(out.entries(), 5U) << "copies count for the size of a shard";
  const WeightFiles files = WeightFiles::open(out.path());
  EXPECT_EQ(files.names(), (std::vector<std::string>{"a", "b", "c", "final_logits_bias"}));
  for (const char* name : {"a", "b", "c"}) expect_equal(files.read(name), a, name);
  expect_equal(files.read("final_logits_bias"), Tensor::from<float>({5, 6, 7}, {1, 3}), "the bias");
}

}  // namespace
}  // namespace heed
