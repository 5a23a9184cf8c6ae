#include "heed/tensor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "heed/borrowed_memory.h"
#include "heed/error.h"
#include "test_folder.h"

namespace heed {
namespace {

/// 0, 1, 2, ... in row-major order.
Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  std::iota(values.begin(), values.end(), 0.0f);
  return Tensor::from(values, shape);
}

TEST(Shape, KnowsItsAxes) {
  const Shape shape{3, 6, 8};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape.size(), 144);
  EXPECT_EQ(shape[-1], 8);
  EXPECT_EQ(shape[0], 3);
  EXPECT_EQ(shape.to_string(), "(3, 6, 8)");
  EXPECT_EQ(Shape().size(), 1);
  EXPECT_EQ(Shape().to_string(), "()");
  EXPECT_EQ(Shape({2, 0, 5}).size(), 0);
  EXPECT_FALSE(Shape({2, 3}) == Shape({3, 2}));
  EXPECT_FALSE(Shape({2}) == Shape({2, 1}));
}

TEST(Shape, RefusesWhatCannotBe) {
  expect_error(ErrorKind::kShape, "at most 6 axes, not 7", [] { Shape({1, 1, 1, 1, 1, 1, 1}); });
  expect_error(ErrorKind::kShape, "length -1", [] { Shape({2, -1}); });
  const int64_t half = int64_t{1} << 32;
  expect_error(ErrorKind::kShape, "larger than any memory", [=] { Shape({half, half}); });
  // Not made harmless by an empty axis: strides are products as well.
  expect_error(ErrorKind::kShape, "larger than any memory", [=] { Shape({0, half, half}); });
  expect_error(ErrorKind::kShape, "larger than any memory", [=] { Shape({half, half, 0}); });
  EXPECT_THROW(Tensor::empty({half, half / 64}), std::bad_alloc);  // a shape in range, more than there is
}

TEST(Shape, SetsALengthThatItCanHave) {
  Shape shape{2, 3};
  shape.set(-1, 5);
  EXPECT_EQ(shape, Shape({2, 5}));
  expect_error(ErrorKind::kShape, "length -4", [&] { shape.set(0, -4); });
  expect_error(ErrorKind::kShape, "larger than any memory", [&] { shape.set(0, int64_t{1} << 62); });
  expect_error(ErrorKind::kShape, "(2, 5) has no axis 2: it has 2 axes", [&] { shape.set(2, 1); });
  expect_error(ErrorKind::kShape, "no axis -3", [&] { shape.set(-3, 1); });
  EXPECT_EQ(shape, Shape({2, 5}));
}

TEST(Tensor, CopiesOfTheHandleShareElements) {
  Tensor tensor = Tensor::zeros({2, 2});
  EXPECT_TRUE(tensor.is_sole_owner());
  Tensor same = tensor;
  EXPECT_FALSE(tensor.is_sole_owner());
  same.data<float>()[3] = 5;
  EXPECT_EQ(tensor.to_vector<float>(), (std::vector<float>{0, 0, 0, 5}));
  const Tensor copy = tensor.clone();
  EXPECT_TRUE(copy.is_sole_owner());
  same.data<float>()[0] = 7;
  EXPECT_EQ(copy.to_vector<float>(), (std::vector<float>{0, 0, 0, 5}));
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, WithoutElementsIsAnErrorOfTheCaller) {
  for (const auto& read : std::vector<std::function<void(const Tensor&)>>{
           [](const Tensor& tensor) { tensor.bytes(); }, [](const Tensor& tensor) { tensor.data<float>(); },
           [](const Tensor& tensor) { tensor.clone(); },
           [](const Tensor& tensor) { tensor.to(DType::kInt8); },
           [](const Tensor& tensor) { tensor.to_vector<float>(); }}) {
    expect_error(ErrorKind::kUsage, "a tensor is undefined", [&] { read(Tensor()); });
    Tensor tensor = counting({2});
    const Tensor moved = std::move(tensor);
    expect_error(ErrorKind::kUsage, "moved from", [&] { read(tensor); });  // NOLINT(bugprone-use-after-move)
  }
}

TEST(Tensor, FromChecksTheNumberOfValues) {
  expect_error(ErrorKind::kShape, "3 values do not fill the shape (2, 2)", [] {
    Tensor::from<float>({1, 2, 3}, {2, 2});
  });
  EXPECT_EQ(Tensor::from<double>({2.5}, {}).rank(), 0);
}

TEST(Tensor, IsReadOnlyAsItsType) {
  Tensor ids = Tensor::zeros({2}, DType::kInt64);
  EXPECT_NO_THROW(ids.data<int64_t>());
  expect_error(ErrorKind::kShape, "a tensor of int64 is read as float32", [&] { ids.data<float>(); });
}

TEST(Tensor, ReshapeSharesElementsAndNamesBothShapes) {
  const Tensor tensor = counting({2, 3, 4});
  Tensor flat = tensor.reshape({6, 4});
  EXPECT_EQ(flat.stride(0), 4);
  EXPECT_EQ(flat.to_vector<float>(), tensor.to_vector<float>());
  flat.data<float>()[0] = -1;
  EXPECT_EQ(tensor.data<float>()[0], -1);
  expect_error(ErrorKind::kShape, "cannot reshape (2, 3, 4) to (5, 5)", [&] { tensor.reshape({5, 5}); });
  expect_error(ErrorKind::kShape, "non-contiguous (2, 3, 2) to (12)",
               [&] { tensor.narrow(2, 0, 2).reshape({12}); });
  EXPECT_EQ(Tensor::zeros({1}).reshape({}).rank(), 0);
}

TEST(Tensor, NarrowIsAViewOfOneAxis) {
  const Tensor tensor = counting({2, 3, 4});
  const Tensor rows = tensor.narrow(0, 1, 1);
  EXPECT_TRUE(rows.is_contiguous());
  EXPECT_EQ(rows.data<float>()[0], 12);
  Tensor middle = tensor.narrow(1, 1, 2).narrow(-1, 2, 2);
  EXPECT_EQ(middle.shape(), Shape({2, 2, 2}));
  EXPECT_FALSE(middle.is_contiguous());
  EXPECT_EQ(middle.to_vector<float>(), (std::vector<float>{6, 7, 10, 11, 18, 19, 22, 23}));
  middle.data<float>()[0] = -6;
  EXPECT_EQ(tensor.data<float>()[6], -6);
  EXPECT_EQ(tensor.narrow(2, 4, 0).size(), 0);
  expect_error(ErrorKind::kShape, "axis 2 of (2, 3, 4)", [&] { tensor.narrow(2, 3, 2); });
  expect_error(ErrorKind::kShape, "axis 2 of (2, 3, 4)", [&] { tensor.narrow(-1, -1, 2); });
  expect_error(ErrorKind::kShape, "axis 0",
               [&] { tensor.narrow(0, 1, std::numeric_limits<int64_t>::max()); });
  expect_error(ErrorKind::kShape, "(2, 3, 4) has no axis 3", [&] { tensor.narrow(3, 0, 1); });
  expect_error(ErrorKind::kShape, "no axis -4", [&] { tensor.narrow(-4, 0, 1); });
  expect_error(ErrorKind::kShape, "no axis 0", [&] { Tensor().narrow(0, 0, 1); });
}

TEST(Tensor, ViewsKeepTheMemoryAlive) {
  Tensor view;
  {
    const Tensor tensor = counting({100});
    view = tensor.narrow(0, 90, 10);
    EXPECT_FALSE(view.is_sole_owner());
  }
  EXPECT_TRUE(view.is_sole_owner());
  const Tensor other = Tensor::zeros({100});  // would get the memory if it had been given back
  EXPECT_EQ(view.data<float>()[0], 90);
}

TEST(Tensor, ElementsAreBorrowedFromSomewhere) {
  expect_error(ErrorKind::kUsage, "no memory to borrow for a tensor of (2, 3)", [] { borrow({}, {2, 3}); });
  EXPECT_EQ(borrow({}, {0, 3}).size(), 0);
}

TEST(Tensor, BorrowedMemoryIsSharedAndKeptUntilTheLastView) {
  auto owner = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const std::weak_ptr<std::vector<float>> watch = owner;
  float* const data = owner->data();
  Tensor columns;
  {
    const Tensor rows = borrow({data, DType::kFloat32, {}, owner}, {2, 3});
    EXPECT_TRUE(rows.is_contiguous());
    columns = borrow({data, DType::kFloat32, {1, 3}, std::move(owner)}, {3, 2});
    data[4] = 50;
    EXPECT_EQ(rows.bytes(), data);
    EXPECT_EQ(rows.to_vector<float>(), (std::vector<float>{1, 2, 3, 4, 50, 6}));
  }
  EXPECT_FALSE(columns.is_contiguous());
  EXPECT_EQ(columns.narrow(0, 1, 2).to_vector<float>(), (std::vector<float>{2, 50, 3, 6}));
  EXPECT_FALSE(watch.expired());
  columns = Tensor();
  EXPECT_TRUE(watch.expired());
  EXPECT_THROW(borrow({data, DType::kFloat32, {1}, {}}, {2, 3}), Error);
}

TEST(Tensor, EmptyOnesAreContiguousWhateverTheirStrides) {
  const Tensor none = counting({2, 5}).narrow(1, 0, 0);
  EXPECT_TRUE(none.is_contiguous());
  EXPECT_EQ(none.reshape({0, 7}).shape(), Shape({0, 7}));
  EXPECT_EQ(none.clone().shape(), Shape({2, 0}));
  EXPECT_TRUE(none.to_vector<double>().empty());
}

TEST(Tensor, CloneOfAViewIsContiguousForEveryWidth) {
  const std::vector<float> part = {1, 2, 4, 5, 7, 8};
  for (const DType dtype : {DType::kFloat64, DType::kInt32, DType::kInt64, DType::kUInt8, DType::kInt8,
                            DType::kFloat16, DType::kBFloat16}) {
    const Tensor view = counting({3, 3}).to(dtype).narrow(1, 1, 2);
    const Tensor copy = view.clone();
    EXPECT_TRUE(copy.is_contiguous());
    EXPECT_EQ(copy.dtype(), dtype);
    EXPECT_EQ(copy.to_vector<float>(), part) << name_of(dtype);
    EXPECT_EQ(view.to_vector<float>(), part) << name_of(dtype);
  }
}

TEST(Tensor, ConvertsFloatsToWholeNumbersInRangeOnly) {
  const auto convert = [](double value, DType dtype) { return Tensor::from<double>({value}, {1}).to(dtype); };
  EXPECT_EQ(convert(-2.9, DType::kInt32).data<int32_t>()[0], -2);
  EXPECT_EQ(convert(255.9, DType::kUInt8).data<uint8_t>()[0], 255);
  EXPECT_EQ(convert(-0.9, DType::kUInt8).data<uint8_t>()[0], 0);
  EXPECT_EQ(convert(-128.9, DType::kInt8).data<int8_t>()[0], -128);
  EXPECT_EQ(convert(-0x1p63, DType::kInt64).data<int64_t>()[0], std::numeric_limits<int64_t>::min());
  expect_error(ErrorKind::kNumeric, "256 cannot be converted to uint8", [&] { convert(256, DType::kUInt8); });
  expect_error(ErrorKind::kNumeric, "-1 cannot be converted to uint8", [&] { convert(-1, DType::kUInt8); });
  expect_error(ErrorKind::kNumeric, "-129", [&] { convert(-129, DType::kInt8); });
  expect_error(ErrorKind::kNumeric, "int32", [&] { convert(0x1p31, DType::kInt32); });
  expect_error(ErrorKind::kNumeric, "int64", [&] { convert(0x1p63, DType::kInt64); });
  expect_error(ErrorKind::kNumeric, "nan", [&] { convert(NAN, DType::kInt64); });
  expect_error(ErrorKind::kNumeric, "inf", [&] { convert(INFINITY, DType::kInt8); });
}

TEST(Tensor, ConvertsWholeNumbersExactlyOrNotAtAll) {
  const int64_t odd = (int64_t{1} << 53) + 1;  // not a double
  const Tensor ids = Tensor::from<int64_t>({odd, -1, 1 << 20}, {3});
  EXPECT_EQ(ids.to(DType::kInt64).data<int64_t>()[0], odd);
  expect_error(ErrorKind::kNumeric, "9007199254740993 cannot be converted to int32",
               [&] { ids.to(DType::kInt32); });
  EXPECT_EQ(ids.narrow(0, 1, 2).to_vector<int32_t>(), (std::vector<int32_t>{-1, 1 << 20}));
  expect_error(ErrorKind::kNumeric, "uint8", [&] { ids.narrow(0, 1, 1).to(DType::kUInt8); });
  // One rounding, to nearest even: by way of a double this would be 2^54.
  const Tensor large = Tensor::from<int64_t>({(int64_t{1} << 54) + (int64_t{1} << 30) + 1}, {1});
  EXPECT_EQ(large.to_vector<float>()[0], 0x1p54f + 0x1p31f);
  constexpr int64_t kTie = (int64_t{1} << 62) + (int64_t{1} << 54);  // of bfloat16
  const Tensor around = Tensor::from<int64_t>({kTie - 1, kTie, kTie + 1, -kTie - 1, INT64_MIN}, {5});
  EXPECT_EQ(around.to(DType::kBFloat16).to_vector<double>(),
            (std::vector<double>{0x1p62, 0x1p62, 0x1p62 + 0x1p55, -0x1p62 - 0x1p55, -0x1p63}));
}

TEST(Tensor, ConvertsFloatsToHalvesWithOneRounding) {
  // Just above the tie between 1 and 1 + 2^-10; as a float32 it would be the tie itself, and go to 1.
  const Tensor tensor =
      Tensor::from<double>({1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-8 + 0x1p-40, 1e300, -1e-300}, {4});
  EXPECT_EQ(tensor.to(DType::kFloat16).to_vector<double>(),
            (std::vector<double>{1 + 0x1p-10, 1 + 0x1p-8, INFINITY, -0.0}));
  EXPECT_EQ(tensor.to(DType::kBFloat16).to_vector<double>(),
            (std::vector<double>{1, 1 + 0x1p-7, INFINITY, -0.0}));
  EXPECT_EQ(Tensor::from<double>({1e300}, {1}).to_vector<float>()[0], INFINITY);
}

RC_GTEST_PROP(TensorProperty, ViewsOfViewsHoldTheRightElements, ()) {
  const auto lengths = *rc::gen::container<std::vector<int64_t>>(3, rc::gen::inRange<int64_t>(1, 6));
  const Tensor whole = counting(Shape(lengths));
  Tensor view = whole;
  int64_t begin[3];
  for (int axis = 0; axis < 3; ++axis) {
    begin[axis] = *rc::gen::inRange<int64_t>(0, lengths[axis] + 1);
    view = view.narrow(axis, begin[axis], *rc::gen::inRange<int64_t>(0, lengths[axis] - begin[axis] + 1));
  }
  std::vector<float> expected;
  for (int64_t i = 0; i < view.dim(0); ++i) {
    for (int64_t j = 0; j < view.dim(1); ++j) {
      for (int64_t k = 0; k < view.dim(2); ++k) {
        expected.push_back(
            static_cast<float>(((begin[0] + i) * lengths[1] + begin[1] + j) * lengths[2] + begin[2] + k));
      }
    }
  }
  RC_ASSERT(view.to_vector<float>() == expected);
  RC_ASSERT(view.to(DType::kFloat64).to_vector<float>() == expected);
  RC_ASSERT(view.clone().to_vector<float>() == expected);
}

}  // namespace
}  // namespace heed
