// Reads all tensors of a file, for fuzzers of weight files.
#pragma once

#include "fuzz.h"
#include "io/tensor_reader.h"

namespace heed {

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
