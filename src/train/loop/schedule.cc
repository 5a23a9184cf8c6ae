#include "train/loop/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"

namespace heed::train {

double Schedule::at(int64_t n) const {
  const double step = static_cast<double>(n), warm = static_cast<double>(std::max<int64_t>(warmup_steps, 1));
  const double left = std::max(static_cast<double>(total) - warm, 1.0);
  const double progress = std::clamp((step - warm) / left, 0.0, 1.0);
  const double least = floor * learning_rate;
  switch (kind) {
    case ScheduleKind::kNoam:
      return learning_rate / std::sqrt(static_cast<double>(width)) *
             std::min(1 / std::sqrt(step), step / (warm * std::sqrt(warm)));
    case ScheduleKind::kInverseSqrt:
      return learning_rate * std::min(step / warm, std::sqrt(warm / step));
    case ScheduleKind::kCosine:
      return step < warm ? learning_rate * step / warm
                         : std::max(least, learning_rate / 2 * (1 + std::cos(std::numbers::pi * progress)));
    case ScheduleKind::kLinear:
      return step < warm ? learning_rate * step / warm : std::max(least, learning_rate * (1 - progress));
    case ScheduleKind::kConstant:
      return learning_rate * std::min(1.0, step / warm);
  }
  HEED_CHECK(false);
}

}  // namespace heed::train
