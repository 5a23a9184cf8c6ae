// Arrays of Python (NumPy, or any object with DLPack or the buffer protocol) as tensors, and the reverse;
// both share memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "heed/tensor.h"

namespace heed::python {

/// Any array in the memory of the CPU.
using AnyArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// A tensor over the memory of the array, which lives as long. Booleans become uint8. Throws TypeError for
/// types that Heed does not have, such as complex numbers.
Tensor to_tensor(const AnyArray& array);

/// A NumPy array over the memory of the tensor; None for an undefined one.
nanobind::object to_numpy(const Tensor& tensor);

}  // namespace heed::python
