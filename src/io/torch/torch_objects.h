// The few classes and functions in the pickles of torch.save that describe tensors, and the views that they
// make.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heed/tensor.h"
#include "io/torch/pickle_reader.h"

namespace heed {

/// A storage: the memory of one or several tensors, stored by itself.
struct TorchStorage {
  std::string key;       ///< names its data in the file
  std::string type;      ///< as safetensors names it: "F32"
  uint64_t size = 0;     ///< elements
  int element_size = 0;  ///< bytes
  uint64_t begin = 0;    ///< of its data in the file; set by the layout
  bool found = false;    ///< whether the file has its data
};

/// A tensor: a view of a storage.
struct TorchView {
  std::string name;
  size_t storage = 0;  ///< index
  int64_t offset = 0;  ///< of its first element in the storage
  Shape shape;
  std::vector<int64_t> strides;  ///< in elements, one for each axis
};

/// A dictionary of tensors as a pickle describes it.
struct TorchTensors {
  std::vector<TorchStorage> storages;
  std::vector<TorchView> views;
};

/// Interprets names, calls and persistent ids of torch.save. `origin` names the pickle in messages.
class TorchCalls final : public PickleCalls {
 public:
  explicit TorchCalls(std::string origin) : origin_(std::move(origin)) {}
  void require_known(std::string_view global) const override;
  PickleValue call(std::string_view global, const std::vector<uint32_t>& arguments,
                   const PickleValues& values) const override;
  PickleValue load(const PickleValue& id, const PickleValues& values) const override;

 private:
  void require_no_flags(const PickleValue& metadata, const PickleValues& values) const;

  std::string origin_;
};

/// The tensors of a pickle whose root is a dictionary of them. Throws kFormat unless every entry is a tensor
/// whose elements lie inside its storage.
TorchTensors torch_tensors(const Pickle& pickle, const std::string& origin);

}  // namespace heed
