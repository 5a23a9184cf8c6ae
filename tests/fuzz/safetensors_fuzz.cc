// safetensors: eight bytes with the length of the header, the header in JSON, and the numbers.
#include "io/safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "json_mutator.h"
#include "tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz_tensors<heed::SafetensorsReader>(bytes, size);
}

/// Half of the mutations change the header as JSON, and then its length. (x86 and Arm store it in this
/// order.)
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t room, unsigned seed) {
  uint64_t length = 0;
  if (size >= sizeof length) std::memcpy(&length, bytes, sizeof length);
  if (seed % 2 == 0 || size < sizeof length || length > size - sizeof length) {
    return LLVMFuzzerMutate(bytes, size, room);
  }
  const size_t numbers = size - sizeof length - length;
  std::vector<uint8_t> header(room - sizeof length - numbers);
  uint8_t* const begin = bytes + sizeof length;
  std::copy_n(begin, length, header.begin());
  const uint64_t changed = heed::mutate_json(header.data(), length, header.size(), seed / 2);
  std::memmove(begin + changed, begin + length, numbers);
  std::copy_n(header.begin(), changed, begin);
  std::memcpy(bytes, &changed, sizeof changed);
  return sizeof changed + changed + numbers;
}
