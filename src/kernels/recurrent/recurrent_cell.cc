#include "kernels/recurrent/recurrent_cell.h"

#include "kernels/simd/simd.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/recurrent/recurrent_cell.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::HWY_NAMESPACE {

/// h_. of one row: the product, and the bias where there is one.
template <typename T>
struct HiddenRow {
  const T* product;
  const T* bias;
  template <class Load>
  HWY_INLINE auto operator()(const Load& load, int64_t at) const {
    const auto x = load(product + at);
    return bias != nullptr ? hn::Add(x, load(bias + at)) : x;
  }
};

template <typename T>
void gru(const RecurrentCellArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const int64_t width = a.width;
  for (int64_t row = 0; row < a.rows; ++row) {
    T* gates = a.gates + row * 3 * width;
    const HiddenRow<T> hidden{a.hidden + row * a.hidden_stride, a.hidden_bias};
    const T* h = a.h + row * width;
    T* next = a.next_h + row * width;
    for_each_vector(d, width, [&](auto at, auto load, auto store) {
      const auto r = sigmoid(d, hn::Add(load(gates + at), hidden(load, at)));
      const auto z = sigmoid(d, hn::Add(load(gates + width + at), hidden(load, width + at)));
      const auto n = hn::Tanh(d, hn::MulAdd(r, hidden(load, 2 * width + at), load(gates + 2 * width + at)));
      store(r, gates + at);
      store(z, gates + width + at);
      store(n, gates + 2 * width + at);
      store(hn::MulAdd(z, hn::Sub(load(h + at), n), n), next + at);
    });
  }
}

// With ' for the derivative before its function, and u for the gradient of h':
//   dn' = u (1 - z) (1 - n^2)   dz' = u (h - n) z (1 - z)   dr' = dn' h_n r (1 - r)   dh_n = dn' r   dh += u
//   z
template <typename T>
void gru_backward(const RecurrentCellBackwardArguments<T>& b) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  const RecurrentCellArguments<T>& a = b.forward;
  const int64_t width = a.width;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* gates = a.gates + row * 3 * width;
    const HiddenRow<T> hidden{a.hidden + row * a.hidden_stride, a.hidden_bias};
    const T* h = a.h + row * width;
    const T* upstream = b.dnext_h + row * width;
    T* dgates = b.dgates + row * 3 * width;
    T* dhidden = b.dhidden + row * b.dhidden_stride;
    T* dh = b.dh + row * width;
    for_each_vector(d, width, [&](auto at, auto load, auto store) {
      const auto u = load(upstream + at), r = load(gates + at), z = load(gates + width + at);
      const auto n = load(gates + 2 * width + at);
      const auto dn = hn::Mul(hn::Mul(u, hn::Sub(one, z)), hn::NegMulAdd(n, n, one));
      const auto dz = hn::Mul(hn::Mul(u, hn::Sub(load(h + at), n)), hn::Mul(z, hn::Sub(one, z)));
      const auto dr = hn::Mul(hn::Mul(dn, hidden(load, 2 * width + at)), hn::Mul(r, hn::Sub(one, r)));
      store(dr, dgates + at);
      store(dz, dgates + width + at);
      store(dn, dgates + 2 * width + at);
      store(dr, dhidden + at);
      store(dz, dhidden + width + at);
      store(hn::Mul(dn, r), dhidden + 2 * width + at);
      store(hn::MulAdd(u, z, load(dh + at)), dh + at);
    });
  }
}

template <typename T>
void lstm(const RecurrentCellArguments<T>& a) {
  const hn::ScalableTag<T> d;
  const int64_t width = a.width;
  for (int64_t row = 0; row < a.rows; ++row) {
    T* gates = a.gates + row * 4 * width;
    const HiddenRow<T> hidden{a.hidden + row * a.hidden_stride, a.hidden_bias};
    const T* c = a.c + row * width;
    T* next_c = a.next_c + row * width;
    T* next_h = a.next_h + row * width;
    for_each_vector(d, width, [&](auto at, auto load, auto store) {
      const auto before = [&](int64_t gate) {
        return hn::Add(load(gates + gate * width + at), hidden(load, gate * width + at));
      };
      const auto i = sigmoid(d, before(0)), f = sigmoid(d, before(1));
      const auto g = hn::Tanh(d, before(2)), o = sigmoid(d, before(3));
      const auto cell = hn::MulAdd(f, load(c + at), hn::Mul(i, g));
      store(i, gates + at);
      store(f, gates + width + at);
      store(g, gates + 2 * width + at);
      store(o, gates + 3 * width + at);
      store(cell, next_c + at);
      store(hn::Mul(o, hn::Tanh(d, cell)), next_h + at);
    });
  }
}

// With t = tanh(c'), u for the gradient of h' and w for all of that of c':
//   w = dc' + u o (1 - t^2)   do' = u t o (1 - o)   di' = w g i (1 - i)   df' = w c f (1 - f)
//   dg' = w i (1 - g^2)   dc += w f
template <typename T>
void lstm_backward(const RecurrentCellBackwardArguments<T>& b) {
  const hn::ScalableTag<T> d;
  const auto one = hn::Set(d, T{1});
  const RecurrentCellArguments<T>& a = b.forward;
  const int64_t width = a.width;
  for (int64_t row = 0; row < a.rows; ++row) {
    const T* gates = a.gates + row * 4 * width;
    const T* c = a.c + row * width;
    const T* next_c = a.next_c + row * width;
    const T* upstream_h = b.dnext_h + row * width;
    const T* upstream_c = b.dnext_c + row * width;
    T* dgates = b.dgates + row * 4 * width;
    T* dhidden = b.dhidden + row * b.dhidden_stride;
    T* dc = b.dc + row * width;
    for_each_vector(d, width, [&](auto at, auto load, auto store) {
      const auto u = load(upstream_h + at), i = load(gates + at), f = load(gates + width + at);
      const auto g = load(gates + 2 * width + at), o = load(gates + 3 * width + at);
      const auto t = hn::Tanh(d, load(next_c + at));
      const auto w = hn::MulAdd(hn::Mul(u, o), hn::NegMulAdd(t, t, one), load(upstream_c + at));
      const auto through_sigmoid = [&](auto s, auto gradient) {
        return hn::Mul(gradient, hn::Mul(s, hn::Sub(one, s)));
      };
      const auto keep = [&](int64_t gate, auto gradient) {
        store(gradient, dgates + gate * width + at);
        store(gradient, dhidden + gate * width + at);
      };
      keep(0, through_sigmoid(i, hn::Mul(w, g)));
      keep(1, through_sigmoid(f, hn::Mul(w, load(c + at))));
      keep(2, hn::Mul(hn::Mul(w, i), hn::NegMulAdd(g, g, one)));
      keep(3, through_sigmoid(o, hn::Mul(u, t)));
      store(hn::MulAdd(w, f, load(dc + at)), dc + at);
    });
  }
}

template <typename T>
void recurrent_cell(const RecurrentCellArguments<T>& a) {
  return a.cell == RecurrentCell::kGru ? gru(a) : lstm(a);
}

template <typename T>
void recurrent_cell_backward(const RecurrentCellBackwardArguments<T>& a) {
  return a.forward.cell == RecurrentCell::kGru ? gru_backward(a) : lstm_backward(a);
}

HEED_KERNEL(recurrent_cell, RecurrentCellArguments)
HEED_KERNEL(recurrent_cell_backward, RecurrentCellBackwardArguments)

}  // namespace heed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed {
HEED_DISPATCH(recurrent_cell, RecurrentCellArguments)
HEED_DISPATCH(recurrent_cell_backward, RecurrentCellBackwardArguments)
}  // namespace heed
#endif
