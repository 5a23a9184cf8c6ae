// Dropout masks that are drawn, not stored.
//
// Element n of a stream is kept when 16 random bits, a function of (key, n) alone, are not below the
// threshold; what is kept is divided by the probability of being kept (Srivastava et al., 2014). The backward
// pass draws the same mask again. The mapping from n to bits is the same for every instruction set.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/rng.h"

namespace heed {

/// One dropout: where its bits come from, and how many are dropped. Nothing is dropped where threshold is 0.
struct DropoutStream {
  RandomKey key;
  uint32_t threshold = 0;  ///< of 65536

  DropoutStream() = default;
  DropoutStream(RandomKey stream_key, double probability)
      : key(stream_key), threshold(static_cast<uint32_t>(std::lround(probability * 65536))) {}
  bool active() const { return threshold > 0; }
  /// What kept elements are multiplied by.
  double scale() const { return 65536.0 / (65536.0 - threshold); }
};

/// y = x * mask, or residual + x * mask; the mask has 0 or stream.scale().
template <typename T>
struct DropoutArguments {
  DropoutStream stream;
  int64_t size = 0;
  const T* x = nullptr;
  const T* residual = nullptr;  ///< or null
  T* y = nullptr;
};
void dropout(const DropoutArguments<float>& arguments);
void dropout(const DropoutArguments<double>& arguments);

}  // namespace heed
