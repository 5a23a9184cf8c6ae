#include "io/npz_file.h"

#include "tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string file = heed::without_checksums(heed::text_of(bytes, size));
  return heed::fuzz_tensors<heed::NpzFile>(reinterpret_cast<const uint8_t*>(file.data()), file.size());
}
