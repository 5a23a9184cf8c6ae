// The learning rate over the steps of a training.
#pragma once

#include <cstdint>

namespace heed::train {

/// With n the number of the update, from 1:
///   kNoam         factor * width^-0.5 * min(n^-0.5, n * warmup^-1.5)   (Vaswani et al., 2017, equation 3;
///   factor = rate) kInverseSqrt  rate * min(n / warmup, sqrt(warmup / n))             the same shape, its
///   height given kCosine       n < warmup: rate * n / warmup; then rate / 2 * (1 + cos(pi * (n - warmup) /
///   (total - warmup))) kLinear       n < warmup: rate * n / warmup; then rate * (total - n) / (total -
///   warmup) kConstant     rate * min(1, n / warmup)
enum class ScheduleKind { kNoam, kInverseSqrt, kCosine, kLinear, kConstant };

struct Schedule {
  ScheduleKind kind = ScheduleKind::kInverseSqrt;
  double rate = 1e-3;
  int64_t warmup = 4000;
  int64_t total = 100000;  ///< where cosine and linear end; the rate is 0 from there on
  int64_t width = 512;     ///< noam

  /// The rate of update n.
  double at(int64_t n) const;
};

}  // namespace heed::train
