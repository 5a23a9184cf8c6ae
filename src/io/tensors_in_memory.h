// Tensors that are in memory, read like those of a file.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/tensor_reader.h"

namespace heed {

class TensorsInMemory final : public TensorReader {
 public:
  /// `path` is the file that they come from, for messages. Types that safetensors has.
  TensorsInMemory(const std::string& path, std::vector<std::pair<std::string, Tensor>> tensors);

 protected:
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override;

 private:
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

}  // namespace heed
