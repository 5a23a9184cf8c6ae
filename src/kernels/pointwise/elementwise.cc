#include "kernels/pointwise/elementwise.h"

#include <numbers>

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pointwise/elementwise.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/column_sums-inl.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

template <typename T>
void add_scaled(const AddScaledArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const auto factor = hn::Set(d, a.factor);
  for_each_vector(d, a.size, [&](auto at, auto load, auto store) {
    store(hn::MulAdd(factor, load(a.x + at), load(a.y + at)), a.y + at);
  });
}

template <typename T>
void add(const AddArguments<T>& a) {
  const hn::ScalableTag<T> d;
  for_each_vector(d, a.size, [&](auto at, auto load, auto store) {
    store(hn::Add(load(a.x + at), load(a.z + at)), a.y + at);
  });
}

template <typename T>
void add_rows(const AddRowsArguments<T>& a) {
  const hn::ScalableTag<T> d;
  ColumnSums<T> sums(a.columns);
  T* sum = sums.block();
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* x = a.x + row * a.x_stride;
    for_each_vector(d, a.columns, [&](auto at, auto load, auto store) {
      store(hn::Add(load(x + at), load(sum + at)), sum + at);
    });
    sums.end_row();
  }
  sums.add_to(a.sum);
}

// Beyond this, swish and GELU are x or 0 to the last bit, and their derivatives 1 or 0. The formulas are not:
// a gate that is almost 0 stays above 4e-38 (simd/math-inl.h), and x^3 overflows. NaN stays NaN.
constexpr int kLargestArgument = 1000;

template <class D, class V>
HWY_INLINE V bounded_below(D d, V x) {
  return at_least(d, -kLargestArgument, x);
}
template <class D, class V>
HWY_INLINE V bounded(D d, V x) {
  return at_most(d, kLargestArgument, bounded_below(d, x));
}

/// Of the approximate GELU, x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) (Hendrycks and
/// Gimpel, 2016): (1 + tanh(u)) / 2, which is the sigmoid of 2 u, and the derivative of 2 u.
template <class V>
struct GeluGate {
  V gate, slope;
};
template <class D, class V>
HWY_INLINE GeluGate<V> gelu_gate(D d, V x) {
  using T = hn::TFromD<D>;
  const auto factor = hn::Set(d, static_cast<T>(2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi));
  const auto square = hn::Mul(x, x);
  const auto one = hn::Set(d, T{1});
  const auto twice_u =
      hn::Mul(hn::Mul(factor, x), hn::MulAdd(hn::Set(d, static_cast<T>(0.044715)), square, one));
  return {sigmoid(d, twice_u),
          hn::Mul(factor, hn::MulAdd(hn::Set(d, static_cast<T>(3 * 0.044715)), square, one))};
}

template <typename T>
void activate(const ActivationArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const auto map = [&](const auto& function) {
    for_each_vector(d, a.size,
                    [&](auto at, auto load, auto store) { store(function(load(a.x + at)), a.y + at); });
  };
  switch (a.function) {
    case Activation::kRelu:
      return map([&](auto x) { return at_least(d, 0, x); });
    case Activation::kSwish:
      return map([&](auto x) { return hn::Mul(bounded_below(d, x), sigmoid(d, x)); });
    case Activation::kSigmoid:
      return map([&](auto x) { return sigmoid(d, x); });
    case Activation::kTanh:
      return map([&](auto x) { return hn::Tanh(d, x); });
    case Activation::kGeluTanh:
      return map([&](auto x) { return hn::Mul(bounded_below(d, x), gelu_gate(d, bounded(d, x)).gate); });
    case Activation::kGelu:
      return map([&](auto x) { return hn::Mul(bounded_below(d, x), normal_distribution(d, x).below); });
  }
}

template <typename T>
void activate_backward(const ActivationBackwardArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  const auto map = [&](const auto& derivative) {
    for_each_vector(d, a.size, [&](auto at, auto load, auto store) {
      store(hn::Mul(load(a.dy + at), derivative(load(a.x + at))), a.dx + at);
    });
  };
  switch (a.function) {
    case Activation::kRelu:
      return map([&](auto x) { return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one); });
    case Activation::kSwish:
      return map([&](auto x) {
        const auto s = sigmoid(d, x);
        return hn::Mul(s, hn::MulAdd(bounded(d, x), hn::Sub(one, s), one));
      });
    case Activation::kSigmoid:
      return map([&](auto x) {
        const auto s = sigmoid(d, x);
        return hn::Mul(s, hn::Sub(one, s));
      });
    case Activation::kTanh:
      return map([&](auto x) {
        const auto t = hn::Tanh(d, x);
        return hn::NegMulAdd(t, t, one);
      });
    case Activation::kGeluTanh:
      return map([&](auto any) {
        const auto x = bounded(d, any);
        const auto [gate, slope] = gelu_gate(d, x);
        return hn::Mul(gate, hn::MulAdd(hn::Mul(x, slope), hn::Sub(one, gate), one));
      });
    case Activation::kGelu:
      return map([&](auto x) {
        const auto normal = normal_distribution(d, x);
        return hn::MulAdd(bounded(d, x), normal.density, normal.below);
      });
  }
}

HEED_KERNEL(add_scaled, AddScaledArguments)
HEED_KERNEL(add, AddArguments)
HEED_KERNEL(add_rows, AddRowsArguments)
HEED_KERNEL(activate, ActivationArguments)
HEED_KERNEL(activate_backward, ActivationBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(add_scaled, AddScaledArguments)
HEED_DISPATCH(add, AddArguments)
HEED_DISPATCH(add_rows, AddRowsArguments)
HEED_DISPATCH(activate, ActivationArguments)
HEED_DISPATCH(activate_backward, ActivationBackwardArguments)
}  // namespace heed
#endif
