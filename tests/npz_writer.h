// Test helper: writes .npz files as numpy.savez does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/tensor.h"

namespace heed {

/// A zip file of entries that are not compressed. Checksums are left zero.
class ZipWriter {
 public:
  void add(const std::string& name, std::string_view content) {
    const auto offset = static_cast<uint32_t>(bytes_.size());
    bytes_ += "PK\x03\x04";
    const std::string fields = common_fields(name, content);
    bytes_ += fields + name;
    bytes_ += content;
    directory_ += "PK\x01\x02";
    put(directory_, 20, 2);  // version
    directory_ += fields;
    for (const int zeros : {2, 2, 2, 4}) put(directory_, 0, zeros);  // comment, disk, attributes
    put(directory_, offset, 4);
    directory_ += name;
    ++entries_;
  }
  std::string finish() const {
    std::string end = "PK\x05\x06";
    put(end, 0, 4);
    put(end, entries_, 2);
    put(end, entries_, 2);
    put(end, directory_.size(), 4);
    put(end, bytes_.size(), 4);
    put(end, 0, 2);
    return bytes_ + directory_ + end;
  }

 private:
  static void put(std::string& to, uint64_t number, int bytes) {
    for (int n = 0; n < bytes; ++n) to.push_back(static_cast<char>(number >> 8 * n & 0xff));
  }
  static std::string common_fields(const std::string& name, std::string_view content) {
    std::string fields;
    put(fields, 20, 2);                             // version
    for (int n = 0; n < 4; ++n) put(fields, 0, 2);  // flags, method, time, date
    put(fields, 0, 4);                              // checksum
    put(fields, content.size(), 4);
    put(fields, content.size(), 4);
    put(fields, name.size(), 2);
    put(fields, 0, 2);  // extra field
    return fields;
  }

  std::string bytes_, directory_;
  uint64_t entries_ = 0;
};

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
