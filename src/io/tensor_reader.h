// A file of named tensors, whatever its format: safetensors, PyTorch's pytorch_model.bin and others. Models
// are read through this interface and know no format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/tensor.h"

namespace heed {

/// Files are read, hashed and converted in chunks that stay in the cache.
constexpr size_t kReadChunkBytes = size_t{1} << 18;

/// One tensor of a file.
struct TensorInfo {
  std::string name;
  std::string type;               ///< as safetensors names it: "F32", "BOOL", "F8_E4M3"
  DType dtype = DType::kFloat32;  ///< the type it is read as; only valid if `readable`
  bool readable = true;           ///< false for unsupported types, which can only be listed
  Shape shape;
  /// The byte range in the file's data, which may begin after a header. For a view with strides, end - begin
  /// is the size of its elements.
  uint64_t begin = 0, end = 0;
};

/// An open file; thread-safe. A format implements read_elements().
class TensorReader {
 public:
  virtual ~TensorReader() = default;

  const std::string& path() const { return path_; }
  /// All tensors in data order.
  const std::vector<TensorInfo>& infos() const { return infos_; }
  bool has(const std::string& name) const { return positions_.count(name) > 0; }
  /// Throws kNotFound, naming the file and the nearest name.
  const TensorInfo& info(const std::string& name) const;

  /// The tensor in its stored type; BOOL becomes kUInt8. Throws kNotFound, or kFormat for unsupported types.
  Tensor read(const std::string& name) const;
  /// Reads a tensor of F32, F16, BF16 or F64 as float32 into `destination`, which has the shape `expected`.
  /// Type and shape are checked before reading. Throws kNotFound, kFormat, or kShape with both shapes.
  void read_into(const std::string& name, float* destination, const Shape& expected) const;
  /// Reads a tensor of `dtype`, kFloat16 or kBFloat16, as it is stored.
  void read_into(const std::string& name, uint16_t* destination, DType dtype, const Shape& expected) const;
  /// Reads a tensor of I8.
  void read_into(const std::string& name, int8_t* destination, const Shape& expected) const;
  /// Rows [begin, begin + count) along the first axis, in the stored type. Does not verify hashes.
  Tensor read_rows(const std::string& name, int64_t begin, int64_t count) const;
  /// Elements [begin, begin + count) in row-major order and the stored type. Does not verify hashes.
  void read_part(const std::string& name, int64_t begin, int64_t count, void* destination) const;
  /// Calls visit(begin, values, count) for all of a tensor of F32, F16, BF16 or F64, part by part and as
  /// float32, and verifies the hash. Throws kNotFound or kFormat.
  void visit_floats(const std::string& name,
                    const std::function<void(int64_t, const float*, int64_t)>& visit) const;
  /// The same for a tensor of F16 or BF16, in its type.
  void visit_halves(const std::string& name,
                    const std::function<void(int64_t, const uint16_t*, int64_t)>& visit) const;
  /// Whether the file has hashes or checksums of its data.
  virtual bool has_hashes() const { return false; }
  /// Reads all data and compares them with these. Throws kFormat, naming the first that do not match.
  virtual void verify() const {}
  /// Whether a part costs less than the whole tensor.
  bool has_cheap_parts(const std::string& name) const { return reads_parts(position_of(info(name))); }

 protected:
  TensorReader(std::string path, std::vector<TensorInfo> infos);
  TensorReader(TensorReader&&) = default;
  TensorReader& operator=(TensorReader&&) = default;

  size_t position_of(const TensorInfo& tensor) const { return positions_.at(tensor.name); }
  /// Reads elements [begin, begin + count) of infos()[index], in row-major order, without conversion.
  virtual void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const = 0;
  /// False if a part costs as much as the whole tensor, which is then read at once.
  virtual bool reads_parts(size_t) const { return true; }
  /// The hash of a tensor's bytes, which reading the whole tensor verifies; empty if there is none.
  virtual std::optional<uint64_t> stored_hash(size_t) const { return {}; }
  /// Throws kFormat if `hash` differs from the stored one.
  void require_hash(size_t index, uint64_t hash) const;

 private:
  size_t index_of_shape(const std::string& name, const Shape& expected) const;
  void read_data(size_t index, void* destination) const;
  template <typename Element, typename Visit>
  void visit_parts(size_t index, const Visit& visit) const;

  std::string path_;
  std::vector<TensorInfo> infos_;
  std::unordered_map<std::string, size_t> positions_;
};

}  // namespace heed
