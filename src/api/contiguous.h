// Contiguous copies, since ops take contiguous tensors only.
#pragma once

#include "heed/tensor.h"

namespace heed {

/// The tensor itself where it is contiguous (or undefined), else a contiguous copy.
inline Tensor contiguous(const Tensor& tensor) {
  return !tensor.defined() || tensor.is_contiguous() ? tensor : tensor.clone();
}

}  // namespace heed
