#include "ops/norms/rms_norm.h"

#include "kernels/reduction/rms_norm.h"
#include "ops/gradients.h"
#include "ops/norms/feature_parameters.h"

namespace heed::ops {
namespace {

/// The factors of the features: weight + offset.
Tensor factors_of(const Var& weight, const RmsNormOptions& options) {
  if (options.weight_offset == 0) return weight.value();
  Tensor factors = weight.value().clone();
  for_float_type("rms_norm", factors, [&]<typename T>(T) {
    T* factor = factors.data<T>();
    for (int64_t i = 0; i < factors.size(); ++i) factor[i] += static_cast<T>(options.weight_offset);
  });
  return factors;
}

}  // namespace

Var rms_norm(const Var& x, const Var& weight, const RmsNormOptions& options) {
  require_feature_parameters("rms_norm", x.value(), "a weight", {weight.value()});
  Tape* tape = tape_of(x, weight);
  const int64_t rows = rows_of(x.value());
  Tensor y = Tensor::empty(x.shape(), x.dtype());
  const Tensor rrms = tape != nullptr ? Tensor::empty({rows}, x.dtype()) : Tensor();
  const Tensor factors = factors_of(weight, options);
  for_float_type("rms_norm", y, [&]<typename T>(T) {
    Tensor kept = rrms;
    heed::rms_norm({.rows = rows,
                    .width = x.dim(-1),
                    .epsilon = options.epsilon,
                    .x = x.value().data<T>(),
                    .weight = factors.data<T>(),
                    .y = y.data<T>(),
                    .rrms = kept.defined() ? kept.data<T>() : nullptr});
  });
  if (tape == nullptr) return y;
  return tape->record(y, [tape, x, weight, factors, rrms](const Tensor& dy) {
    Tensor dx = Tensor::empty(x.shape(), x.dtype());
    Tensor dweight = accumulator_or_scratch(weight);
    for_float_type("rms_norm", dy, [&]<typename T>(T) {
      rms_norm_backward({.rows = rows_of(dy),
                         .width = dy.dim(-1),
                         .x = x.value().data<T>(),
                         .weight = factors.data<T>(),
                         .rrms = rrms.data<T>(),
                         .dy = dy.data<T>(),
                         .dx = dx.data<T>(),
                         .dweight = dweight.data<T>()});
    });
    tape->add_gradient(x, dx);
  });
}

namespace {

void require_heads(const Var& x, const NormedHeads& part) {
  require_same_type("rms_norm_heads", x.value(), part.weight.value());
  require_contiguous("rms_norm_heads", part.weight.value());
  const int64_t width = part.weight.value().size();
  if (part.weight.shape().rank() != 1 || width < 1 || part.begin < 0 || part.width % width != 0 ||
      part.begin + part.width > x.dim(-1)) {
    fail(ErrorKind::kShape, "rms_norm_heads: columns [{}, {}) of x {} are not heads as wide as the weight {}",
         part.begin, part.begin + part.width, x.shape().to_string(), part.weight.shape().to_string());
  }
}

/// A part and what its backward pass needs.
struct KeptHeads {
  NormedHeads part;
  Tensor factors, rrms;  ///< (d_k), (rows, heads)
  int64_t head_width() const { return factors.size(); }
  int64_t heads() const { return part.width / head_width(); }
};

}  // namespace

Var rms_norm_heads(const Var& x, const std::vector<NormedHeads>& parts, const RmsNormOptions& options) {
  require_rows("rms_norm_heads", x.value());
  Tape* tape = x.tape();
  const int64_t rows = rows_of(x.value()), stride = x.dim(-1);
  std::vector<KeptHeads> kept;
  for (const NormedHeads& part : parts) {
    require_heads(x, part);
    if (tape == nullptr) tape = part.weight.tape();
    kept.push_back({part, factors_of(part.weight, options), {}});
    kept.back().rrms = Tensor::empty({rows, kept.back().heads()}, x.dtype());
  }
  Tensor y = x.value().clone();
  for_float_type("rms_norm_heads", y, [&]<typename T>(T) {
    for (KeptHeads& each : kept) {
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t at = row * stride + each.part.begin;
        heed::rms_norm({.rows = each.heads(),
                        .width = each.head_width(),
                        .epsilon = options.epsilon,
                        .x = x.value().data<T>() + at,
                        .weight = each.factors.data<T>(),
                        .y = y.data<T>() + at,
                        .rrms = each.rrms.data<T>() + row * each.heads()});
      }
    }
  });
  if (tape == nullptr) return y;
  return tape->record(y, [tape, x, kept, rows, stride](const Tensor& dy) {
    Tensor dx = dy.clone();
    for_float_type("rms_norm_heads", dy, [&]<typename T>(T) {
      for (const KeptHeads& each : kept) {
        Tensor dweight = accumulator_or_scratch(each.part.weight);
        for (int64_t row = 0; row < rows; ++row) {
          const int64_t at = row * stride + each.part.begin;
          rms_norm_backward({.rows = each.heads(),
                             .width = each.head_width(),
                             .x = x.value().data<T>() + at,
                             .weight = each.factors.data<T>(),
                             .rrms = each.rrms.data<T>() + row * each.heads(),
                             .dy = dy.data<T>() + at,
                             .dx = dx.data<T>() + at,
                             .dweight = dweight.data<T>()});
        }
      }
    });
    tape->add_gradient(x, dx);
  });
}

}  // namespace heed::ops
