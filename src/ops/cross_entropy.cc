#include "ops/cross_entropy.h"

#include <algorithm>

#include "kernels/pointwise/elementwise.h"
#include "kernels/reduction/softmax.h"
#include "ops/capped_values.h"
#include "ops/dispatch.h"
#include "ops/linear_products.h"

namespace heed::ops {
namespace {

void require_smoothing(const CrossEntropyOptions& options) {
  if (!(options.smoothing >= 0 && options.smoothing < 1)) {
    fail(ErrorKind::kUsage, "cross_entropy: label smoothing must be at least 0 and below 1, not {}",
         options.smoothing);
  }
}

void require_targets(const Tensor& targets, int64_t rows, int64_t classes, int32_t ignored) {
  require_contiguous("cross_entropy", targets);
  if (targets.size() != rows) {
    fail(ErrorKind::kShape, "cross_entropy: {} targets for {} rows of logits", targets.size(), rows);
  }
  for (int64_t t = 0; t < rows; ++t) {
    const int32_t target = targets.data<int32_t>()[t];
    if (target != ignored && (target < 0 || target >= classes)) {
      fail(ErrorKind::kUsage, "cross_entropy: target {} at index {} is not one of {} classes", target, t,
           classes);
    }
  }
}

// Logits made at a time. Each block passes through the whole weight twice and through its gradient once,
// which costs more than to fetch a block of logits again from the last-level cache (docs/performance.md).
constexpr int64_t kLogitsInBlock = 1 << 22;

}  // namespace

Var cross_entropy(const Var& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  require_rows("cross_entropy", logits.value());
  require_smoothing(options);
  const int64_t rows = rows_of(logits.value()), classes = logits.dim(-1);
  require_targets(targets, rows, classes, options.ignored);
  Tensor losses = Tensor::empty(targets.shape(), logits.dtype());
  Tensor dlogits;
  if (logits.wants_gradient()) dlogits = Tensor::empty(logits.shape(), logits.dtype());
  for_float_type("cross_entropy", losses, [&]<typename T>(T) {
    heed::cross_entropy({.rows = rows,
                         .classes = classes,
                         .logits = logits.value().data<T>(),
                         .targets = targets.data<int32_t>(),
                         .ignored = options.ignored,
                         .smoothing = options.smoothing,
                         .others = options.others,
                         .losses = losses.data<T>(),
                         .negative_log_likelihoods = nullptr,
                         .dlogits = dlogits.defined() ? dlogits.data<T>() : nullptr,
                         .gradient_scale = T{1}});
  });
  if (!logits.wants_gradient()) return losses;
  return logits.tape()->record(losses, [logits, dlogits, rows, classes](const Tensor& dlosses) {
    Tensor gradient = dlogits.clone();
    for_float_type("cross_entropy", gradient, [&]<typename T>(T) {
      const T* upstream = dlosses.data<T>();
      for (int64_t row = 0; row < rows; ++row) {
        T* g = gradient.data<T>() + row * classes;
        for (int64_t c = 0; c < classes; ++c) g[c] *= upstream[row];
      }
    });
    logits.tape()->add_gradient(logits, gradient);
  });
}

VocabularyLoss vocabulary_cross_entropy(const Var& hidden, const Var& weight, const Var& bias,
                                        const Tensor& targets, const CrossEntropyOptions& options) {
  require_rows("vocabulary_cross_entropy", hidden.value());
  require_rows("vocabulary_cross_entropy", weight.value());
  require_same_type("vocabulary_cross_entropy", hidden.value(), weight.value());
  require_smoothing(options);
  if (weight.shape().rank() != 2 || weight.dim(1) != hidden.dim(-1) || weight.dim(0) < 1) {
    fail(ErrorKind::kShape, "vocabulary_cross_entropy: hidden {} does not fit the weight {}",
         hidden.shape().to_string(), weight.shape().to_string());
  }
  const int64_t rows = rows_of(hidden.value()), width = hidden.dim(-1), classes = weight.dim(0);
  if (bias.defined()) {
    require_same_type("vocabulary_cross_entropy", hidden.value(), bias.value());
    require_contiguous("vocabulary_cross_entropy", bias.value());
    if (!(bias.shape() == Shape{classes})) {
      fail(ErrorKind::kShape, "vocabulary_cross_entropy: a weight of {} needs a bias of ({}), not {}",
           weight.shape().to_string(), classes, bias.shape().to_string());
    }
  }
  require_targets(targets, rows, classes, options.ignored);
  Tape* tape = tape_of(hidden, weight, bias);
  Tensor dhidden, dweight, dbias;
  if (hidden.wants_gradient()) dhidden = Tensor::empty(hidden.shape(), hidden.dtype());
  if (weight.wants_gradient()) dweight = tape->accumulator(weight);
  if (bias.wants_gradient()) dbias = tape->accumulator(bias);

  VocabularyLoss result;
  Tensor total = Tensor::zeros({1}, hidden.dtype());
  for_float_type("vocabulary_cross_entropy", hidden.value(), [&]<typename T>(T) {
    const int64_t block = std::clamp<int64_t>(kLogitsInBlock / classes, 16, std::max<int64_t>(rows, 16));
    Tensor logits = Tensor::empty({block, classes}, hidden.dtype());
    Tensor losses = Tensor::empty({2, block}, hidden.dtype());
    Tensor capped;
    if (options.logit_cap > 0) capped = Tensor::empty({block, classes}, hidden.dtype());
    T* z = logits.data<T>();
    for (int64_t begin = 0; begin < rows; begin += block) {
      const int64_t count = std::min(block, rows - begin);
      const T* h = hidden.value().data<T>() + begin * width;
      const LinearShape product{count, width, classes, options.precision};
      multiply_weight(product, h, weight.value().data<T>(), z,
                      bias.defined() ? bias.value().data<T>() : nullptr);
      if (capped.defined()) cap_values(z, count * classes, options.logit_cap, capped.data<T>(), z);
      T* loss = losses.data<T>();
      T* nll = loss + block;
      heed::cross_entropy({.rows = count,
                           .classes = classes,
                           .logits = z,
                           .targets = targets.data<int32_t>() + begin,
                           .ignored = options.ignored,
                           .smoothing = options.smoothing,
                           .others = options.others,
                           .losses = loss,
                           .negative_log_likelihoods = nll,
                           .dlogits = tape != nullptr ? z : nullptr,
                           .gradient_scale = static_cast<T>(options.scale)});
      for (int64_t row = 0; row < count; ++row) {
        result.loss_sum += static_cast<double>(loss[row]);
        result.negative_log_likelihood += static_cast<double>(nll[row]);
        result.tokens += targets.data<int32_t>()[begin + row] != options.ignored ? 1 : 0;
      }
      if (capped.defined() && tape != nullptr) cap_gradient(capped.data<T>(), count * classes, z);
      if (dhidden.defined()) {
        input_gradient(product, z, weight.value().data<T>(), dhidden.data<T>() + begin * width,
                       /*accumulate=*/false);
      }
      if (dweight.defined()) {
        add_weight_gradient(product, z, h, dweight.data<T>());
      }
      if (dbias.defined()) {
        add_rows({.rows = count, .columns = classes, .x = z, .x_stride = classes, .sum = dbias.data<T>()});
      }
    }
    total.data<T>()[0] = static_cast<T>(result.loss_sum * options.scale);
  });
  result.loss = total;
  if (tape != nullptr) {
    result.loss = tape->record(total, [tape, hidden, dhidden](const Tensor& upstream) {
      HEED_CHECK(upstream.to_vector<double>()[0] == 1);
      if (dhidden.defined()) tape->add_gradient(hidden, dhidden);
    });
  }
  return result;
}

}  // namespace heed::ops
