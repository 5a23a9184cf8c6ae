#include "ops/recurrent/time_steps.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace heed::ops {

TimeSteps::TimeSteps(const std::vector<int32_t>& offsets, bool reverse) {
  if (offsets.empty() || offsets[0] != 0) {
    fail(ErrorKind::kShape, "recurrent: the offsets of the sequences must begin with 0");
  }
  const size_t count = offsets.size() - 1;
  const auto length = [&](int32_t b) { return offsets[b + 1] - offsets[b]; };
  sequences_.resize(count);
  std::iota(sequences_.begin(), sequences_.end(), 0);
  for (const int32_t b : sequences_) {
    if (length(b) < 0) fail(ErrorKind::kShape, "recurrent: offsets of sequences must not fall");
  }
  std::stable_sort(sequences_.begin(), sequences_.end(),
                   [&](int32_t a, int32_t b) { return length(a) > length(b); });
  packed_rows_.reserve(static_cast<size_t>(offsets.back()));
  for (int32_t t = 0; count > 0 && t < length(sequences_[0]); ++t) {
    for (const int32_t b : sequences_) {
      if (length(b) <= t) break;
      packed_rows_.push_back(reverse ? offsets[b + 1] - 1 - t : offsets[b] + t);
    }
    begins_.push_back(static_cast<int64_t>(packed_rows_.size()));
  }
}

}  // namespace heed::ops
