// NumPy's format of arrays, .npy (numpy.org, "NEP 1: a simple file format for NumPy arrays"), version 1.0.
#pragma once

#include <string>

#include "heed/tensor.h"

namespace heed {

/// Writes a contiguous float32 tensor atomically, for numpy.load(). Throws kFile.
void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace heed
