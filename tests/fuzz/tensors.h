// Reads all tensors of a file, for fuzzers of weight files.
#pragma once

#include <string>
#include <string_view>

#include "fuzz.h"
#include "io/tensor_reader.h"

namespace heed {

/// Zip files whose directory says that entries have no checksums: an input that is mutated would be refused.
inline std::string without_checksums(std::string_view zip) {
  constexpr std::string_view kDirectoryEntry = "PK\x01\x02";
  constexpr size_t kChecksum = 16, kBytes = 4;
  std::string bytes(zip);
  for (size_t at = 0; (at = bytes.find(kDirectoryEntry, at)) != std::string::npos;
       at += kDirectoryEntry.size()) {
    if (bytes.size() - at >= kChecksum + kBytes) bytes.replace(at + kChecksum, kBytes, kBytes, '\0');
  }
  return bytes;
}

template <typename Reader>
int fuzz_tensors(const uint8_t* bytes, size_t size) {
  const FileOfBytes file(bytes, size);
  return fuzz([&] {
    const Reader reader = Reader::open(file.path());
    for (const TensorInfo& info : reader.infos()) {
      fuzz([&] { (void)reader.read(info.name); });
    }
  });
}

}  // namespace heed
