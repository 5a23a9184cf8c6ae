// Learning rate schedules.
#pragma once

#include <cstdint>

namespace heed::train {

/// The learning rate of update n, from 1, with lr = learning_rate, w = warmup_steps and T = total:
///
///   kNoam         lr * width^-0.5 * min(n^-0.5, n * w^-1.5)  Vaswani et al. (2017), eq. 3; lr is a factor
///   kInverseSqrt  lr * min(n / w, sqrt(w / n))               the same shape with peak lr
///   kCosine       lr / 2 * (1 + cos(pi * (n - w) / (T - w)))
///   kLinear       lr * (T - n) / (T - w)
///   kConstant     lr
///
/// The last three begin with a linear warmup, lr * n / w for n < w. kCosine and kLinear are at least floor *
/// lr from n = w on.
enum class ScheduleKind { kNoam, kInverseSqrt, kCosine, kLinear, kConstant };

/// Whether it ends at Schedule::total.
constexpr bool has_end(ScheduleKind kind) {
  return kind == ScheduleKind::kCosine || kind == ScheduleKind::kLinear;
}

struct Schedule {
  ScheduleKind kind = ScheduleKind::kInverseSqrt;
  double learning_rate = 1e-3;
  int64_t warmup_steps = 4000;
  int64_t total = 100000;  ///< end of kCosine and kLinear; the learning rate is floor * lr from there on
  int64_t width = 512;     ///< for kNoam
  double floor = 0;        ///< fraction of the peak at which kCosine and kLinear end

  /// The learning rate of update n.
  double at(int64_t n) const;
};

}  // namespace heed::train
