#include "heed/tensor.h"

#include <cstring>

#include "base/check.h"
#include "base/memory_pool.h"
#include "tensor/half.h"

namespace heed {

size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
    case DType::kInt64:
      return 8;
    case DType::kFloat32:
    case DType::kInt32:
      return 4;
    case DType::kFloat16:
    case DType::kBFloat16:
      return 2;
    case DType::kUInt8:
    case DType::kInt8:
      return 1;
  }
  HEED_CHECK(false);
}

const char* name_of(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kUInt8:
      return "uint8";
    case DType::kInt8:
      return "int8";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
  }
  HEED_CHECK(false);
}

Shape::Shape(const int64_t* begin, const int64_t* end) {
  if (end - begin > kMaxRank) fail(ErrorKind::kShape, "a tensor has at most {} axes, not {}", kMaxRank, end - begin);
  for (const int64_t* length = begin; length != end; ++length) {
    if (*length < 0) fail(ErrorKind::kShape, "an axis cannot have length {}", *length);
    lengths_[rank_++] = *length;
  }
}

int64_t Shape::size() const {
  int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= lengths_[axis];
  return product;
}

std::string Shape::to_string() const { return fmt::format("({})", fmt::join(begin(), end(), ", ")); }

bool Shape::operator==(const Shape& other) const {
  if (rank_ != other.rank_) return false;
  for (int axis = 0; axis < rank_; ++axis) {
    if (lengths_[axis] != other.lengths_[axis]) return false;
  }
  return true;
}

/// Memory of a tensor and all its views.
class Storage {
 public:
  explicit Storage(size_t bytes) : data_(pool_allocate(bytes)) {}
  ~Storage() { pool_free(data_); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
};

Tensor Tensor::empty(const Shape& shape, DType dtype) {
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.dtype_ = dtype;
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    tensor.strides_[axis] = stride;
    stride *= shape[axis];
  }
  const size_t bytes = static_cast<size_t>(shape.size()) * size_of(dtype);
  tensor.storage_ = std::allocate_shared<Storage>(PoolAllocator<Storage>(), bytes);
  return tensor;
}

Tensor Tensor::zeros(const Shape& shape, DType dtype) {
  Tensor tensor = empty(shape, dtype);
  std::memset(tensor.bytes(), 0, static_cast<size_t>(shape.size()) * size_of(dtype));
  return tensor;
}

Tensor Tensor::copy_of(const void* values, size_t count, const Shape& shape, DType dtype) {
  if (static_cast<int64_t>(count) != shape.size()) {
    fail(ErrorKind::kShape, "{} values do not fill the shape {}", count, shape.to_string());
  }
  Tensor tensor = empty(shape, dtype);
  if (count > 0) std::memcpy(tensor.bytes(), values, count * size_of(dtype));
  return tensor;
}

bool Tensor::is_contiguous() const {
  int64_t stride = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] != 1 && strides_[axis] != stride) return false;
    stride *= shape_[axis];
  }
  return true;
}

bool Tensor::is_sole_owner() const { return storage_.use_count() == 1; }

void* Tensor::bytes() const {
  HEED_CHECK(defined());
  return static_cast<char*>(storage_->data()) + offset_ * static_cast<int64_t>(size_of(dtype_));
}

void* Tensor::checked_data(DType wanted) const {
  if (dtype_ != wanted) {
    fail(ErrorKind::kShape, "a tensor of {} is read as {}; convert it with to()", name_of(dtype_), name_of(wanted));
  }
  return bytes();
}

Tensor Tensor::reshape(const Shape& shape) const {
  if (!is_contiguous() || shape.size() != size()) {
    fail(ErrorKind::kShape, "cannot reshape {}{} to {}", is_contiguous() ? "" : "the non-contiguous ",
         shape_.to_string(), shape.to_string());
  }
  Tensor view = *this;
  view.shape_ = shape;
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    view.strides_[axis] = stride;
    stride *= shape[axis];
  }
  return view;
}

Tensor Tensor::narrow(int axis, int64_t begin, int64_t count) const {
  if (axis < 0) axis += rank();
  HEED_CHECK(axis >= 0 && axis < rank());
  if (begin < 0 || count < 0 || begin + count > shape_[axis]) {
    fail(ErrorKind::kShape, "the part [{}, {}) lies outside axis {} of {}", begin, begin + count, axis,
         shape_.to_string());
  }
  Tensor view = *this;
  view.offset_ += begin * strides_[axis];
  view.shape_.set(axis, count);
  return view;
}

namespace {

/// Calls visit(offset in elements) for every element in row-major order.
template <typename Visit>
void for_each_offset(const Tensor& tensor, const Visit& visit) {
  const int rank = tensor.rank();
  if (tensor.size() == 0) return;
  int64_t index[Shape::kMaxRank] = {};
  while (true) {
    int64_t offset = 0;
    for (int axis = 0; axis < rank; ++axis) offset += index[axis] * tensor.stride(axis);
    visit(offset);
    int axis = rank - 1;
    for (; axis >= 0; --axis) {
      if (++index[axis] < tensor.dim(axis)) break;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

double read_element(const void* data, DType dtype, int64_t at) {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<const float*>(data)[at];
    case DType::kFloat64:
      return static_cast<const double*>(data)[at];
    case DType::kInt32:
      return static_cast<const int32_t*>(data)[at];
    case DType::kInt64:
      return static_cast<double>(static_cast<const int64_t*>(data)[at]);
    case DType::kUInt8:
      return static_cast<const uint8_t*>(data)[at];
    case DType::kInt8:
      return static_cast<const int8_t*>(data)[at];
    case DType::kFloat16:
      return half_to_float(static_cast<const uint16_t*>(data)[at]);
    case DType::kBFloat16:
      return bfloat_to_float(static_cast<const uint16_t*>(data)[at]);
  }
  HEED_CHECK(false);
}

void write_element(void* data, DType dtype, int64_t at, double value) {
  switch (dtype) {
    case DType::kFloat32:
      static_cast<float*>(data)[at] = static_cast<float>(value);
      return;
    case DType::kFloat64:
      static_cast<double*>(data)[at] = value;
      return;
    case DType::kInt32:
      static_cast<int32_t*>(data)[at] = static_cast<int32_t>(value);
      return;
    case DType::kInt64:
      static_cast<int64_t*>(data)[at] = static_cast<int64_t>(value);
      return;
    case DType::kUInt8:
      static_cast<uint8_t*>(data)[at] = static_cast<uint8_t>(value);
      return;
    case DType::kInt8:
      static_cast<int8_t*>(data)[at] = static_cast<int8_t>(value);
      return;
    case DType::kFloat16:
      static_cast<uint16_t*>(data)[at] = float_to_half(static_cast<float>(value));
      return;
    case DType::kBFloat16:
      static_cast<uint16_t*>(data)[at] = float_to_bfloat(static_cast<float>(value));
      return;
  }
}

}  // namespace

Tensor Tensor::clone() const {
  Tensor copy = empty(shape_, dtype_);
  const size_t width = size_of(dtype_);
  const char* from = static_cast<const char*>(bytes());
  char* to = static_cast<char*>(copy.bytes());
  if (is_contiguous()) {
    std::memcpy(to, from, static_cast<size_t>(size()) * width);
  } else {
    for_each_offset(*this, [&](int64_t offset) {
      std::memcpy(to, from + offset * static_cast<int64_t>(width), width);
      to += width;
    });
  }
  return copy;
}

Tensor Tensor::to(DType dtype) const {
  if (dtype == dtype_) return clone();
  Tensor copy = empty(shape_, dtype);
  int64_t at = 0;
  for_each_offset(*this, [&](int64_t offset) {
    write_element(copy.bytes(), dtype, at++, read_element(bytes(), dtype_, offset));
  });
  return copy;
}

}  // namespace heed
