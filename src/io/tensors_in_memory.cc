#include "io/tensors_in_memory.h"

#include <cstring>

#include "io/safetensors/safetensors_header.h"

namespace heed {
namespace {

std::vector<TensorInfo> infos_of(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<TensorInfo> infos;
  uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    const uint64_t bytes = static_cast<uint64_t>(tensor.size()) * size_of(tensor.dtype());
    infos.push_back({.name = name,
                     .type = safetensors_type_of(tensor.dtype()),
                     .dtype = tensor.dtype(),
                     .shape = tensor.shape(),
                     .begin = at,
                     .end = at + bytes});
    at += bytes;
  }
  return infos;
}

}  // namespace

TensorsInMemory::TensorsInMemory(const std::string& path, std::vector<std::pair<std::string, Tensor>> tensors)
    : TensorReader(path, infos_of(tensors)), tensors_(std::move(tensors)) {
  for (auto& [name, tensor] : tensors_) {
    if (!tensor.is_contiguous()) tensor = tensor.clone();
  }
}

void TensorsInMemory::read_elements(size_t index, int64_t begin, int64_t count, void* destination) const {
  const Tensor& tensor = tensors_[index].second;
  const size_t element = size_of(tensor.dtype());
  std::memcpy(destination, static_cast<const char*>(tensor.bytes()) + static_cast<size_t>(begin) * element,
              static_cast<size_t>(count) * element);
}

}  // namespace heed
