#include "heed/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/memory_pool.h"
#include "heed/borrowed_memory.h"
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

namespace {

/// The axis counted from the front. Throws kShape if it is not there.
int checked_axis(const Shape& shape, int axis) {
  if (axis < -shape.rank() || axis >= shape.rank()) {
    fail(ErrorKind::kShape, "{} has no axis {}: it has {} axes, counted from 0, or with -1 from the last",
         shape.to_string(), axis, shape.rank());
  }
  return axis < 0 ? axis + shape.rank() : axis;
}

}  // namespace

Shape::Shape(const int64_t* begin, const int64_t* end) {
  if (end - begin > kMaxRank)
    fail(ErrorKind::kShape, "a tensor has at most {} axes, not {}", kMaxRank, end - begin);
  for (const int64_t* length = begin; length != end; ++length) lengths_[rank_++] = *length;
  require_lengths();
}

void Shape::set(int axis, int64_t length) {
  Shape changed = *this;
  changed.lengths_[checked_axis(*this, axis)] = length;
  changed.require_lengths();
  *this = changed;
}

void Shape::require_lengths() const {
  for (const int64_t length : *this) {
    if (length < 0) fail(ErrorKind::kShape, "an axis cannot have length {}", length);
  }
  // No product of lengths may overflow, nor that times the width of an element; empty axes do not count,
  // because strides are products too.
  int64_t room = std::numeric_limits<int64_t>::max() / 8;
  for (const int64_t length : *this) {
    if (length > room) fail(ErrorKind::kShape, "a tensor of shape {} is larger than any memory", to_string());
    if (length > 1) room /= length;
  }
}

int64_t Shape::size() const {
  int64_t product = 1;
  for (int axis = 0; axis < rank_; ++axis) product *= lengths_[axis];
  return product;
}

std::string Shape::to_string() const {
  return fmt::format("({})", fmt::join(begin(), end(), ", "));
}

bool Shape::operator==(const Shape& other) const {
  if (rank_ != other.rank_) return false;
  for (int axis = 0; axis < rank_; ++axis) {
    if (lengths_[axis] != other.lengths_[axis]) return false;
  }
  return true;
}

/// Memory of a tensor and all its views: of the pool, or borrowed from an owner.
class Storage {
 public:
  explicit Storage(size_t bytes) : data_(pool_allocate(bytes)) {}
  Storage(void* data, std::shared_ptr<const void> owner)
      : data_(data), borrowed_(true), owner_(std::move(owner)) {}
  ~Storage() {
    if (!borrowed_) pool_free(data_);
  }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
  bool borrowed_ = false;
  std::shared_ptr<const void> owner_;
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

/// borrow(), as a member of Tensor, which may set its fields.
template <>
Tensor Tensor::from(const std::vector<BorrowedMemory>& memory, const Shape& shape) {
  const BorrowedMemory& from = memory.front();
  if (!from.strides.empty() && static_cast<int>(from.strides.size()) != shape.rank()) {
    fail(ErrorKind::kShape, "{} strides do not match the shape {}", from.strides.size(), shape.to_string());
  }
  if (from.data == nullptr && shape.size() > 0) {
    fail(ErrorKind::kUsage, "there is no memory to borrow for a tensor of {}: set BorrowedMemory::data",
         shape.to_string());
  }
  Tensor tensor;
  tensor.shape_ = shape;
  tensor.dtype_ = from.dtype;
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    tensor.strides_[axis] = from.strides.empty() ? stride : from.strides[static_cast<size_t>(axis)];
    stride *= shape[axis];
  }
  tensor.storage_ = std::make_shared<Storage>(from.data, from.owner);
  return tensor;
}

Tensor borrow(const BorrowedMemory& memory, const Shape& shape) {
  return Tensor::from(std::vector<BorrowedMemory>{memory}, shape);
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
  if (size() == 0) return true;
  int64_t stride = 1;
  for (int axis = rank() - 1; axis >= 0; --axis) {
    if (shape_[axis] != 1 && strides_[axis] != stride) return false;
    stride *= shape_[axis];
  }
  return true;
}

bool Tensor::is_sole_owner() const {
  return storage_.use_count() == 1;
}

void* Tensor::bytes() const {
  if (!defined()) {
    fail(ErrorKind::kUsage, "a tensor is undefined, made by Tensor() or moved from: give one with elements");
  }
  return static_cast<char*>(storage_->data()) + offset_ * static_cast<int64_t>(size_of(dtype_));
}

void* Tensor::checked_data(DType wanted) const {
  if (dtype_ != wanted) {
    fail(ErrorKind::kShape, "a tensor of {} is read as {}; convert it with to()", name_of(dtype_),
         name_of(wanted));
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
  axis = checked_axis(shape_, axis);
  if (begin < 0 || count < 0 || begin > shape_[axis] || count > shape_[axis] - begin) {
    fail(ErrorKind::kShape, "{} from {} on lie outside axis {} of {}", count, begin, axis,
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

/// A 16-bit float as it lies in memory, to tell one kind from the other.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

/// Calls visit(an element of the C++ type that stands for `dtype`).
template <typename Visit>
void with_element_of(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit(float{});
    case DType::kFloat64:
      return visit(double{});
    case DType::kInt32:
      return visit(int32_t{});
    case DType::kInt64:
      return visit(int64_t{});
    case DType::kUInt8:
      return visit(uint8_t{});
    case DType::kInt8:
      return visit(int8_t{});
    case DType::kFloat16:
      return visit(Half{});
    case DType::kBFloat16:
      return visit(BFloat{});
  }
  HEED_CHECK(false);
}

/// Rounded to odd: a second rounding, to fewer bits, is that of the exact number (Boldo and Melquiond, "When
/// double rounding is odd", 2005).
double rounded_to_odd(int64_t value) {
  const uint64_t size = value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value);
  const int dropped =
      std::max(0, static_cast<int>(std::bit_width(size)) - std::numeric_limits<double>::digits);
  const uint64_t kept = size >> dropped, odd = kept << dropped == size ? kept : kept | 1;
  return std::copysign(std::ldexp(static_cast<double>(odd), dropped), static_cast<double>(value));
}

template <typename To, typename From>
To convert(From value) {
  if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(half_to_float(value.bits));
  } else if constexpr (std::is_same_v<From, BFloat>) {
    return convert<To>(bfloat_to_float(value.bits));
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half{double_to_half(static_cast<double>(value))};
  } else if constexpr (std::is_same_v<To, BFloat> && std::is_same_v<From, int64_t>) {
    return BFloat{double_to_bfloat(rounded_to_odd(value))};
  } else if constexpr (std::is_same_v<To, BFloat>) {
    return BFloat{double_to_bfloat(static_cast<double>(value))};
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    bool fits = false;
    if constexpr (std::is_floating_point_v<From>) {
      // Both ends are powers of two, or 0, and so are exact; the upper one is the first that does not fit.
      constexpr auto kHalfEnd = std::numeric_limits<To>::max() / 2 + 1;  // an integer
      constexpr double kEnd = 2.0 * static_cast<double>(kHalfEnd);
      const double whole = std::trunc(static_cast<double>(value));
      fits = whole >= static_cast<double>(std::numeric_limits<To>::min()) && whole < kEnd;
    } else {
      fits = std::in_range<To>(value);
    }
    if (!fits) {
      fail(ErrorKind::kNumeric, "{} cannot be converted to {}: it lies outside its range", value,
           name_of(DTypeOf<To>::value));
    }
    return static_cast<To>(value);
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
  with_element_of(dtype_, [&](auto from_element) {
    with_element_of(dtype, [&](auto to_element) {
      using From = decltype(from_element);
      using To = decltype(to_element);
      const From* from = static_cast<const From*>(bytes());
      To* to = static_cast<To*>(copy.bytes());
      if (is_contiguous()) {
        std::transform(from, from + size(), to, convert<To, From>);
      } else {
        for_each_offset(*this, [&](int64_t offset) { *to++ = convert<To>(from[offset]); });
      }
    });
  });
  return copy;
}

}  // namespace heed
