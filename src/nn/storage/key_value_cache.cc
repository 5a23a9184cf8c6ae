#include "nn/storage/key_value_cache.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "nn/context.h"
#include "tensor/half.h"

namespace heed::nn {
namespace {

/// The numbers of a tensor in 16 bits.
uint16_t* halves(const Tensor& rows) {
  HEED_CHECK(rows.dtype() == DType::kFloat16);
  return static_cast<uint16_t*>(rows.bytes());
}

}  // namespace

DType cached_type(const Context& context) {
  return context.compact != nullptr && !context.compact->is_exact() ? DType::kFloat16 : DType::kFloat32;
}

Tensor grown(const Tensor& rows, int64_t count, int64_t width, DType dtype) {
  Tensor larger = Tensor::empty({count, width}, dtype);
  if (!rows.defined()) return larger;
  HEED_CHECK(rows.dtype() == dtype && rows.dim(1) == width && rows.dim(0) <= count);
  std::memcpy(larger.bytes(), rows.bytes(), static_cast<size_t>(rows.size()) * size_of(dtype));
  return larger;
}

void put_row(const float* row, Tensor& rows, int64_t to) {
  const int64_t width = rows.dim(1);
  if (rows.dtype() == DType::kFloat16) {
    floats_to_halves(row, width, halves(rows) + to * width);
  } else {
    std::copy_n(row, width, rows.data<float>() + to * width);
  }
}

void take_row(const Tensor& rows, int64_t from, float* row) {
  const int64_t width = rows.dim(1);
  if (rows.dtype() == DType::kFloat16) {
    halves_to_floats(halves(rows) + from * width, row, static_cast<size_t>(width));
  } else {
    std::copy_n(rows.data<float>() + from * width, width, row);
  }
}

void KeyValueCache::reserve(int64_t rows, int64_t width, DType dtype) {
  if (keys.defined() && keys.dim(0) >= rows) return;
  if (keys.defined()) rows = std::max(rows, 2 * keys.dim(0));  // so that growing costs little in all
  keys = grown(keys, rows, width, dtype);
  values = grown(values, rows, width, dtype);
}

}  // namespace heed::nn
