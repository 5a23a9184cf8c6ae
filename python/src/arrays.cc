#include "arrays.h"

#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "bindings.h"
#include "heed/attention.h"
#include "heed/borrowed_memory.h"
#include "heed/positions.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace heed::python {
namespace {

struct TypeOfElements {
  DType dtype;
  nb::dlpack::dtype dlpack;
};

nb::dlpack::dtype dlpack_type(nb::dlpack::dtype_code code, int bits) {
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
}

const std::vector<TypeOfElements>& types() {
  using Code = nb::dlpack::dtype_code;
  static const std::vector<TypeOfElements> all{
      {DType::kFloat32, dlpack_type(Code::Float, 32)}, {DType::kFloat64, dlpack_type(Code::Float, 64)},
      {DType::kInt32, dlpack_type(Code::Int, 32)},     {DType::kInt64, dlpack_type(Code::Int, 64)},
      {DType::kUInt8, dlpack_type(Code::UInt, 8)},     {DType::kInt8, dlpack_type(Code::Int, 8)},
      {DType::kFloat16, dlpack_type(Code::Float, 16)}, {DType::kBFloat16, dlpack_type(Code::Bfloat, 16)},
      {DType::kUInt8, dlpack_type(Code::Bool, 8)}};
  return all;
}

DType dtype_of(const AnyArray& array) {
  for (const TypeOfElements& each : types()) {
    if (each.dlpack == array.dtype()) return each.dtype;
  }
  throw nb::type_error(
      "the elements of an array must be float32, float64, float16, bfloat16, int8, int32, int64, uint8 or "
      "bool");
}

}  // namespace

Tensor to_tensor(const AnyArray& array) {
  std::vector<int64_t> lengths, strides;
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    lengths.push_back(static_cast<int64_t>(array.shape(axis)));
    strides.push_back(array.stride(axis));
  }
  const Shape shape(lengths);
  // The last reference may be dropped by a thread without the GIL; nanobind then acquires it.
  auto owner = std::make_shared<const AnyArray>(array);
  return borrow({const_cast<void*>(array.data()), dtype_of(array), std::move(strides), std::move(owner)},
                shape);
}

nb::object to_numpy(const Tensor& tensor) {
  if (!tensor.defined()) return nb::none();
  auto owned = std::make_unique<Tensor>(tensor);
  const nb::capsule owner(owned.get(), [](void* one) noexcept { delete static_cast<Tensor*>(one); });
  const Tensor& kept = *owned.release();
  std::vector<size_t> lengths;
  std::vector<int64_t> strides;
  for (int axis = 0; axis < kept.rank(); ++axis) {
    lengths.push_back(static_cast<size_t>(kept.dim(axis)));
    strides.push_back(kept.stride(axis));
  }
  for (const TypeOfElements& each : types()) {
    if (each.dtype != kept.dtype()) continue;
    nb::ndarray<nb::numpy> array(kept.bytes(), lengths.size(), lengths.data(), owner, strides.data(),
                                 each.dlpack);
    return array.cast();
  }
  throw nb::type_error("NumPy has no such type of elements");
}

void bind_arrays(nb::module_& m) {
  m.def(
      "padding_mask",
      [](const std::vector<int64_t>& lengths, int64_t max_length) {
        return to_numpy(padding_mask(lengths, max_length));
      },
      "lengths"_a, "max_length"_a);
  m.def(
      "look_ahead_mask", [](int64_t length) { return to_numpy(look_ahead_mask(length)); }, "length"_a);
  m.def(
      "sinusoidal_positions",
      [](int64_t length, int64_t width, bool interleaved) {
        const SinusoidLayout layout = interleaved ? SinusoidLayout::kInterleaved : SinusoidLayout::kHalves;
        return to_numpy(sinusoidal_positions(length, width, layout));
      },
      "length"_a, "width"_a, "interleaved"_a);
}

}  // namespace heed::python
