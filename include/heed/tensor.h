// Tensors: shared memory with a shape. Arithmetic is in src/ops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace heed {

/// Types of elements. Arithmetic is done in kFloat32 and kFloat64; the others are for ids, masks and files.
enum class DType : uint8_t { kFloat32, kFloat64, kInt32, kInt64, kUInt8, kInt8, kFloat16, kBFloat16 };

size_t size_of(DType dtype);
/// "float32", "int64", ...
const char* name_of(DType dtype);

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr DType value = DType::kUInt8;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr DType value = DType::kInt8;
};

/// The lengths of up to six axes, outermost first.
class Shape {
 public:
  static constexpr int kMaxRank = 6;
  Shape() = default;
  Shape(std::initializer_list<int64_t> lengths) : Shape(lengths.begin(), lengths.end()) {}
  explicit Shape(const std::vector<int64_t>& lengths)
      : Shape(lengths.data(), lengths.data() + lengths.size()) {}

  int rank() const { return rank_; }
  /// Length of an axis, from -rank() to rank() - 1; negative axes count from the end.
  int64_t operator[](int axis) const { return lengths_[axis < 0 ? axis + rank_ : axis]; }
  /// Sets a length. Throws kShape for an axis that is not there, and for lengths that no tensor can have.
  void set(int axis, int64_t length);
  /// The product of all lengths; 1 for no axes.
  int64_t size() const;
  /// "(3, 6, 8)"
  std::string to_string() const;
  bool operator==(const Shape& other) const;
  const int64_t* begin() const { return lengths_; }
  const int64_t* end() const { return lengths_ + rank_; }

 private:
  Shape(const int64_t* begin, const int64_t* end);
  void require_lengths() const;
  int64_t lengths_[kMaxRank] = {};
  int rank_ = 0;
};

class Storage;

/// A cheap handle to elements in shared memory: copies refer to the same elements.
class Tensor {
 public:
  /// An undefined tensor: `defined()` is false, and what reads its elements throws kUsage. So is one that was
  /// moved from.
  Tensor() = default;

  /// Uninitialized elements.
  static Tensor empty(const Shape& shape, DType dtype = DType::kFloat32);
  static Tensor zeros(const Shape& shape, DType dtype = DType::kFloat32);
  /// A copy of `values`, whose number must match the shape.
  template <typename T>
  static Tensor from(const std::vector<T>& values, const Shape& shape) {
    return copy_of(values.data(), values.size(), shape, DTypeOf<T>::value);
  }

  bool defined() const { return storage_ != nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  int64_t dim(int axis) const { return shape_[axis]; }
  int64_t size() const { return shape_.size(); }
  /// Distance in elements between adjacent indices along an axis.
  int64_t stride(int axis) const { return strides_[axis < 0 ? axis + rank() : axis]; }
  /// Whether the elements are contiguous in row-major order.
  bool is_contiguous() const;
  /// Whether no other handle or view refers to this memory.
  bool is_sole_owner() const;

  /// The first element; throws kShape for another element type.
  template <typename T>
  T* data() {
    return static_cast<T*>(checked_data(DTypeOf<T>::value));
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(checked_data(DTypeOf<T>::value));
  }
  /// The first element, of any type.
  void* bytes() const;

  /// The same elements with another shape of the same size; contiguous tensors only.
  Tensor reshape(const Shape& shape) const;
  /// The part [begin, begin + count) of an axis, sharing memory. Throws kShape for what is not there.
  Tensor narrow(int axis, int64_t begin, int64_t count) const;
  /// A contiguous copy.
  Tensor clone() const;
  /// A contiguous copy in another type. Floating-point values are rounded to nearest even, and truncated
  /// towards zero for integer types. Throws kNumeric for NaN and values out of range of an integer type.
  Tensor to(DType dtype) const;
  /// All elements, in row-major order, converted.
  template <typename T>
  std::vector<T> to_vector() const {
    const Tensor copy = to(DTypeOf<T>::value);
    const T* first = copy.data<T>();
    return std::vector<T>(first, first + copy.size());
  }

 private:
  static Tensor copy_of(const void* values, size_t count, const Shape& shape, DType dtype);
  void* checked_data(DType wanted) const;

  std::shared_ptr<Storage> storage_;
  int64_t offset_ = 0;  // in elements
  Shape shape_;
  int64_t strides_[Shape::kMaxRank] = {};
  DType dtype_ = DType::kFloat32;
};

}  // namespace heed
