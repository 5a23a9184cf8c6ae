// Test helper: arrays as numpy.savez writes them into a zip file.
#pragma once

#include <string>
#include <string_view>

#include "heed/tensor.h"
#include "zip_writer.h"

namespace heed {

/// An array as in an .npy file, with this header.
inline std::string npy(std::string header, std::string_view elements) {
  header.push_back('\n');
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(header.size() & 0xff));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  return bytes + header + std::string(elements);
}

inline std::string npy(const std::string& descr, const Shape& shape, std::string_view elements) {
  std::string lengths;
  for (const int64_t length : shape) lengths += std::to_string(length) + ",";
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + lengths + "), }", elements);
}

/// A float32 tensor.
inline std::string npy(const Tensor& tensor) {
  return npy("<f4", tensor.shape(),
             {static_cast<const char*>(tensor.bytes()), static_cast<size_t>(tensor.size()) * sizeof(float)});
}

}  // namespace heed
