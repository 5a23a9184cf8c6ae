#include "autograd/tape.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "autograd/leaf_scope.h"
#include "base/memory_pool.h"
#include "compare.h"
#include "heed/borrowed_memory.h"
#include "random_tensor.h"

namespace heed {
namespace {

Tensor numbers(const std::vector<double>& values) {
  return Tensor::from(values, {static_cast<int64_t>(values.size())});
}

Tensor scaled(const Tensor& x, double factor) {
  Tensor y = x.clone();
  for (int64_t i = 0; i < y.size(); ++i) y.data<double>()[i] *= factor;
  return y;
}

/// factor * x. Counts the runs of its derivative, if asked.
Var times(double factor, const Var& x, int* runs = nullptr) {
  const Tensor y = scaled(x.value(), factor);
  if (!x.wants_gradient()) return y;
  return x.tape()->record(y, [x, factor, runs](const Tensor& dy) {
    if (runs != nullptr) ++*runs;
    x.tape()->add_gradient(x, scaled(dy, factor));
  });
}

/// a + b, which passes the very gradient it gets on to both.
Var sum(const Var& a, const Var& b) {
  Tensor y = a.value().clone();
  for (int64_t i = 0; i < y.size(); ++i) y.data<double>()[i] += b.value().data<double>()[i];
  Tape* tape = tape_of(a, b);
  if (tape == nullptr) return y;
  return tape->record(y, [tape, a, b](const Tensor& dy) {
    tape->add_gradient(a, dy);
    tape->add_gradient(b, dy);
  });
}

TEST(Tape, FollowsTheChainRule) {
  Tape tape;
  const Var x = tape.leaf(numbers({1, 2, 3}));
  tape.backward(times(5, times(3, x)), numbers({1, 10, 100}));
  expect_equal(tape.gradient(x), numbers({15, 150, 1500}), "dx");
}

TEST(Tape, BeginsWithOnes) {
  Tape tape;
  const Var x = tape.leaf(numbers({1, 2}));
  tape.backward(times(3, x));
  expect_equal(tape.gradient(x), numbers({3, 3}), "dx");
}

TEST(Tape, ConstantsCostNothing) {
  Tape tape;
  const Var constant = numbers({1, 2});
  EXPECT_FALSE(times(2, constant).wants_gradient());
  EXPECT_EQ(tape.size(), 0u);
  const Var x = tape.leaf(numbers({3, 4}));
  tape.backward(sum(constant, x));
  expect_equal(tape.gradient(x), numbers({1, 1}), "dx");
}

TEST(Tape, AddsToTheBufferOfALeaf) {
  Tape tape;
  const Tensor buffer = numbers({100, 200});
  const Var x = tape.leaf(numbers({1, 2}), buffer);
  tape.backward(times(3, x));
  tape.backward(times(4, x));
  expect_equal(buffer, numbers({107, 207}), "buffer");
}

TEST(Tape, UnusedVariablesHaveNoGradient) {
  Tape tape;
  int runs = 0;
  const Var x = tape.leaf(numbers({1})), y = tape.leaf(numbers({2}));
  times(2, y, &runs);
  tape.backward(times(3, x));
  EXPECT_FALSE(tape.gradient(y).defined());
  EXPECT_EQ(runs, 0);
}

// One gradient is often passed on to several variables. None of them may see what is added to another.
TEST(Tape, SharedGradientsAreNotMixedUp) {
  Tape tape;
  const Tensor upstream = numbers({1, 2});
  const Var x = tape.leaf(numbers({1, 1})), y = tape.leaf(numbers({1, 1}));
  // The derivative of the outer sum gives the same memory to x and to the inner sum, that to x and y.
  tape.backward(sum(x, sum(x, y)), upstream);
  expect_equal(tape.gradient(x), numbers({2, 4}), "dx");
  expect_equal(tape.gradient(y), numbers({1, 2}), "dy");
  expect_equal(upstream, numbers({1, 2}), "upstream");
}

TEST(Tape, TheSameVariableTwice) {
  Tape tape;
  const Tensor upstream = numbers({1, 2});
  const Var x = tape.leaf(numbers({1, 1}));
  const Var inner = times(3, x);
  tape.backward(sum(inner, inner), upstream);
  expect_equal(tape.gradient(x), numbers({6, 12}), "dx");
  expect_equal(upstream, numbers({1, 2}), "upstream");
}

TEST(Tape, ResidualsAddUp) {
  Tape tape;
  const Var x = tape.leaf(numbers({1}));
  Var y = x;
  for (int n = 0; n < 10; ++n) y = sum(y, times(0.5, y));  // y_n = 1.5 y_(n-1)
  tape.backward(y);
  EXPECT_DOUBLE_EQ(tape.gradient(x).data<double>()[0], std::pow(1.5, 10));
}

// As attention does, whose queries, keys and values are columns of one variable.
TEST(Tape, AccumulatorsOfOneVariableShareMemory) {
  for (const bool is_leaf : {true, false}) {
    for (const bool has_gradient : {true, false}) {
      Tape tape;
      const Var leaf = tape.leaf(numbers({1, 1}));
      const Var x = is_leaf ? leaf : times(1, leaf);
      const Var y = tape.record(numbers({0}), [&tape, x](const Tensor& dy) {
        Tensor first = tape.accumulator(x), second = tape.accumulator(x);
        first.data<double>()[0] += dy.data<double>()[0];
        second.data<double>()[1] += 2 * dy.data<double>()[0];
      });
      const Var later = has_gradient ? sum(x, x) : Var();
      if (has_gradient) {
        const Var both = tape.record(numbers({0}), [&tape, y, later](const Tensor& dz) {
          tape.add_gradient(y, dz);
          tape.add_gradient(later, numbers({10, 10}));
        });
        tape.backward(both);
        expect_equal(tape.gradient(leaf), numbers({21, 22}), "dx");
      } else {
        tape.backward(y);
        expect_equal(tape.gradient(leaf), numbers({1, 2}), "dx");
      }
    }
  }
}

TEST(Tape, AHundredThousandStepsDoNotOverflowTheStack) {
  constexpr int kSteps = 100000;
  int runs = 0;
  {
    Tape tape;
    const Var x = tape.leaf(numbers({1}));
    Var y = x;
    for (int n = 0; n < kSteps; ++n) y = times(n % 2 == 0 ? 2 : 0.5, y, &runs);
    tape.backward(y);
    EXPECT_EQ(runs, kSteps);
    EXPECT_DOUBLE_EQ(tape.gradient(x).data<double>()[0], 1);
    y = x;
    for (int n = 0; n < kSteps; ++n) y = times(1, y);
  }  // and neither does a tape that goes without backward()
}

TEST(Tape, FreesAsItGoes) {
  constexpr int kSteps = 50;
  Tape tape;
  const Var x = tape.leaf(numbers({1}));
  auto token = std::make_shared<int>(0);  // held by every step that is still there
  Var y = x;
  long before = 0;
  for (int n = 0; n < kSteps; ++n) {
    const Var previous = y;
    y = tape.record(scaled(y.value(), 1),
                    [&tape, &token, &before, previous, token_copy = token](const Tensor& dy) {
                      // Later steps are freed already: one owner less each time.
                      if (before != 0) {
                        EXPECT_EQ(token.use_count(), before - 1);
                      }
                      before = token.use_count();
                      tape.add_gradient(previous, dy);
                    });
  }
  EXPECT_EQ(token.use_count(), kSteps + 1);
  tape.backward(y);
  EXPECT_EQ(token.use_count(), 1);
}

// Long chains of large tensors: backward must need no more memory than forward, but for a few gradients.
TEST(Tape, BackwardUsesTheMemoryThatItFrees) {
  constexpr int kSteps = 64;
  constexpr int64_t kSize = 1 << 16;
  pool_trim();
  Tape tape;
  const Var x = tape.leaf(Tensor::zeros({kSize}, DType::kFloat64));
  Var y = x;
  for (int n = 0; n < kSteps; ++n) y = times(1, y);
  const uint64_t forward = pool_statistics().bytes_from_system;
  const Var output = std::exchange(y, Var());
  tape.backward(output);
  const uint64_t both = pool_statistics().bytes_from_system;
  EXPECT_LE(both - forward, uint64_t{8} * kSize * sizeof(double));
  EXPECT_GE(forward,
            uint64_t{kSteps} * kSize * sizeof(double));  // the control: the forward pass did keep them all
}

TEST(Tape, TenThousandStepsNeedNoNewMemory) {
  const Tensor buffer = Tensor::zeros({100}, DType::kFloat64);
  const Tensor value = Tensor::zeros({100}, DType::kFloat64);
  Tape tape;
  const auto step = [&] {
    tape.clear();
    const Var x = tape.leaf(value, buffer);
    Var y = x;
    for (int n = 0; n < 8; ++n) y = sum(times(0.5, y), x);
    tape.backward(y);
  };
  for (int n = 0; n < 10; ++n) step();
  const uint64_t before = pool_statistics().system_allocations;
  for (int n = 0; n < 10000; ++n) step();
  EXPECT_EQ(pool_statistics().system_allocations, before);
  // The control: a step that keeps something is noticed.
  std::vector<Tensor> leak;
  for (int n = 0; n < 10000; ++n) leak.push_back(value.clone());
  EXPECT_GT(pool_statistics().system_allocations, before);
}

class Reports : public LeafObserver {
 public:
  std::vector<const void*> made_, finished_;
  std::vector<double> gradients_;  // when finished, the first element
  void made(const Tensor& gradient) override { made_.push_back(gradient.bytes()); }
  void finished(const Tensor& gradient) override {
    finished_.push_back(gradient.bytes());
    gradients_.push_back(gradient.data<double>()[0]);
  }
};

// x is used twice, once before and once after y.
TEST(LeafScope, ReportsGradientsThatAreFinal) {
  const Tensor dx = numbers({0}), dy = numbers({0});
  Reports reports;
  Tape tape;
  const auto run = [&] {
    const Var x = tape.leaf(numbers({1}), dx);
    Var z = times(2, x);
    const Var y = tape.leaf(numbers({1}), dy), again = tape.leaf(numbers({1}), dx);
    z = sum(sum(z, times(3, y)), times(5, again));
    tape.backward(z);
    tape.clear();
  };
  {
    const LeafScope scope(&reports);
    run();
    const LeafScope inner(nullptr);
    run();
  }
  run();
  EXPECT_EQ(reports.made_, (std::vector<const void*>{dx.bytes(), dy.bytes(), dx.bytes()}));
  EXPECT_EQ(reports.finished_, (std::vector<const void*>{dx.bytes(), dy.bytes(), dx.bytes()}));
  EXPECT_EQ(reports.gradients_, (std::vector<double>{5, 3, 7})) << "the first use of x is finished last";
}

TEST(Tape, MistakesAreNoticed) {
  Tape tape, other;
  const Var x = tape.leaf(numbers({1, 2})), y = times(2, x), z = other.leaf(numbers({1, 2}));
  EXPECT_THROW(tape.backward(y, numbers({1})), std::logic_error);
  EXPECT_THROW(tape.backward(z), std::logic_error);
  EXPECT_THROW(other.gradient(x), std::logic_error);
  EXPECT_THROW(tape.leaf(numbers({1, 2}), numbers({1})), std::logic_error);
  EXPECT_THROW(tape.backward(y, numbers({1, 1}).to(DType::kFloat32)), std::logic_error);
}

TEST(Var, KnowsItself) {
  Tape tape;
  const Tensor value = numbers({1, 2, 3});
  const Var x = tape.leaf(value), other = tape.leaf(value), constant = value;
  EXPECT_TRUE(x.is_same_as(Var(x)));
  EXPECT_FALSE(x.is_same_as(other)) << "two leaves have two gradients, even of one value";
  EXPECT_FALSE(x.is_same_as(constant));
  EXPECT_TRUE(constant.is_same_as(Var(value)));
  EXPECT_FALSE(constant.is_same_as(Var(value.clone())));
  EXPECT_FALSE(constant.is_same_as(Var(value.narrow(0, 0, 2)))) << "a part that begins at the same element";
  const auto view_as = [&](DType dtype) { return borrow({value.bytes(), dtype, {1}, nullptr}, {3}); };
  EXPECT_FALSE(Var(view_as(DType::kFloat32)).is_same_as(Var(view_as(DType::kInt32)))) << "of other numbers";
  EXPECT_TRUE(Var().is_same_as(Var()));
  EXPECT_FALSE(constant.is_same_as(Var()));
}

}  // namespace
}  // namespace heed
