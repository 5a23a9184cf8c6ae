// The weights of a model directory in the Hugging Face layout, with one interface for all formats:
// model.safetensors or pytorch_model.bin, or the shards that model.safetensors.index.json or
// pytorch_model.bin.index.json lists. Of several, the first in this order: safetensors before PyTorch, one
// file before shards.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files/model_inventory.h"
#include "io/tensor_reader.h"

namespace heed {

/// A file of weights by the ending of its name: .safetensors, or else PyTorch's. Throws kNotFound, kFile or
/// kFormat.
std::unique_ptr<TensorReader> open_weight_file(const std::string& path);

class WeightFiles {
 public:
  /// Opens all files and checks their headers. Throws kNotFound if there are no weights in a known format,
  /// with advice on converting those that are there; kFormat for damaged files.
  static WeightFiles open(const ModelInventory& inventory);
  static WeightFiles open(const std::string& directory) { return open(ModelInventory(directory)); }
  /// Whether open() would read safetensors.
  static bool are_safetensors(const ModelInventory& inventory);

  /// The tensors of one reader as the weights of a directory.
  static WeightFiles of(const std::string& directory, std::unique_ptr<TensorReader> reader);

  const std::string& directory() const { return directory_; }
  /// Sorted names of all tensors.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const { return shard_of_.count(name) > 0; }
  /// These throw the same errors as TensorReader.
  const TensorInfo& info(const std::string& name) const { return shard_with(name).info(name); }
  Tensor read(const std::string& name) const { return shard_with(name).read(name); }
  void read_into(const std::string& name, float* destination, const Shape& expected) const {
    shard_with(name).read_into(name, destination, expected);
  }
  void read_into(const std::string& name, int8_t* destination, const Shape& expected) const {
    shard_with(name).read_into(name, destination, expected);
  }
  void read_into(const std::string& name, uint16_t* destination, DType dtype, const Shape& expected) const {
    shard_with(name).read_into(name, destination, dtype, expected);
  }
  void read_part(const std::string& name, int64_t begin, int64_t count, void* destination) const {
    shard_with(name).read_part(name, begin, count, destination);
  }
  void visit_floats(const std::string& name,
                    const std::function<void(int64_t, const float*, int64_t)>& visit) const {
    shard_with(name).visit_floats(name, visit);
  }
  void visit_halves(const std::string& name,
                    const std::function<void(int64_t, const uint16_t*, int64_t)>& visit) const {
    shard_with(name).visit_halves(name, visit);
  }
  bool has_cheap_parts(const std::string& name) const { return shard_with(name).has_cheap_parts(name); }
  Tensor read_rows(const std::string& name, int64_t begin, int64_t count) const {
    return shard_with(name).read_rows(name, begin, count);
  }
  /// Whether two names are there and have the same data in the same shape, as tied tensors have in files of
  /// PyTorch. Views with strides that differ count as the same.
  bool are_same_view(const std::string& one, const std::string& other) const;
  /// Sorted names of the stored tensors; of several views of the same data the first.
  std::vector<std::string> names_without_views() const;
  /// Total size of these.
  uint64_t bytes() const;

 private:
  WeightFiles() = default;
  void add_all_of(std::unique_ptr<TensorReader> reader);
  void add_shards(const std::string& index_path);
  const TensorReader& shard_with(const std::string& name) const;

  std::string directory_;
  std::vector<std::unique_ptr<TensorReader>> shards_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, size_t> shard_of_;
};

}  // namespace heed
