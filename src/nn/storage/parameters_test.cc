#include "nn/storage/parameters.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compare.h"
#include "test_folder.h"

namespace heed::nn {
namespace {

using Kind = Initialization::Kind;

TEST(ParameterTable, LaysRowsOutOneAfterTheOther) {
  ParameterTable table;
  const ParamRef a = table.add({"a", {2, 3}, {}, {}}), b = table.add({"b", {4, 3}, {}, {}});
  table.add({"c", {5}, {Kind::kZeros}, {}});
  EXPECT_EQ(table.size(), 3);
  EXPECT_EQ(table.offset(1), 6);
  EXPECT_EQ(table.elements(), 6 + 12 + 5);
  EXPECT_EQ(table.shape(a).to_string(), "(2, 3)");
  EXPECT_EQ(table.shape({a.first, 2}).to_string(), "(6, 3)") << "two rows as one";
  EXPECT_THROW(table.shape({b.first, 2}), std::logic_error) << "a matrix and a vector";
  EXPECT_THROW(table.shape({2, 2}), std::logic_error) << "past the end";
  expect_error(ErrorKind::kUsage, "two parameters called 'a'", [&] { table.add({"a", {1}, {}, {}}); });
}

TEST(ParameterArray, ViewsShareItsMemory) {
  ParameterTable table;
  const ParamRef a = table.add({"a", {1, 2}, {}, {}}), b = table.add({"b", {2, 2}, {}, {}});
  ParameterArray values(table, DType::kFloat64);
  values.view(table, b).data<double>()[3] = 7;
  expect_equal(values.view(table, {a.first, 2}), Tensor::from<double>({0, 0, 0, 0, 0, 7}, {3, 2}), "both");
}

TEST(Initialize, FollowsTheTable) {
  ParameterTable table;
  const ParamRef xavier = table.add({"x", {60, 40}, {Kind::kXavier}, {}});
  const ParamRef normal = table.add({"n", {5000}, {Kind::kNormal, 0.02}, {}});
  const ParamRef ones = table.add({"o", {3}, {Kind::kOnes}, {}}),
                 zeros = table.add({"z", {3}, {Kind::kZeros}, {}});
  ParameterArray values(table, DType::kFloat32);
  initialize(table, values, RandomKey::from_seed(1));
  const double bound = std::sqrt(6.0 / 100);
  double largest = 0, squares = 0;
  for (const double x : values.view(table, xavier).to_vector<double>())
    largest = std::max(largest, std::abs(x));
  EXPECT_LE(largest, bound * (1 + 0x1p-23));
  EXPECT_GT(largest, 0.99 * bound);
  for (const double x : values.view(table, normal).to_vector<double>()) squares += x * x;
  // The variance of 5000 normal numbers is off by sqrt(2 / 5000) = 2%; five times that.
  EXPECT_NEAR(squares / 5000, 0.02 * 0.02, 0.1 * 0.02 * 0.02);
  expect_equal(values.view(table, ones), Tensor::from<float>({1, 1, 1}, {3}), "ones");
  expect_equal(values.view(table, zeros), Tensor::zeros({3}), "zeros");
}

// The rows beside it begin as they would without it.
TEST(ZeroRow, BeginsAtZeroAndStaysThere) {
  ParameterTable table, without;
  const ParamRef a = table.add({"a", {3, 2}, {Kind::kNormal, 1}, {}});
  without.add({"a", {3, 2}, {Kind::kNormal, 1}, {}});
  table.set_zero_row(a.first, 1);
  ParameterArray values(table, DType::kFloat32), others(without, DType::kFloat32);
  initialize(table, values, RandomKey::from_seed(1));
  initialize(without, others, RandomKey::from_seed(1));
  std::vector<float> expected = others.flat().to_vector<float>();
  EXPECT_NE(expected[2], 0);
  expected[2] = expected[3] = 0;
  EXPECT_EQ(values.flat().to_vector<float>(), expected);

  ParameterArray gradients(table, DType::kFloat32);
  const auto dropped = [&] {
    gradients.flat() = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {6});
    drop_gradients_of_zero_rows(table, values, gradients);
    return gradients.flat().to_vector<float>();
  };
  EXPECT_EQ(dropped(), (std::vector<float>{1, 2, 0, 0, 5, 6}));
  // A row that a file gave other values is trained as all others.
  values.flat().data<float>()[3] = 1e-20F;
  EXPECT_EQ(dropped(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(Initialize, IsAFunctionOfTheKey) {
  ParameterTable table;
  table.add({"a", {7, 5}, {}, {}});
  const ParamRef b = table.add({"b", {7, 5}, {}, {}});
  const auto draw = [&](DType dtype, uint64_t seed) {
    ParameterArray values(table, dtype);
    initialize(table, values, RandomKey::from_seed(seed));
    return values;
  };
  const ParameterArray first = draw(DType::kFloat64, 1);
  expect_equal(draw(DType::kFloat64, 1).flat(), first.flat(), "the same key");
  expect_equal(draw(DType::kFloat32, 1).flat(), first.flat().to(DType::kFloat32), "another precision");
  EXPECT_NE(draw(DType::kFloat64, 2).flat().to_vector<double>(), first.flat().to_vector<double>());
  EXPECT_NE(first.view(table, {0, 1}).to_vector<double>(), first.view(table, b).to_vector<double>());
}

}  // namespace
}  // namespace heed::nn
