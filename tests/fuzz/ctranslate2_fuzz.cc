#include "io/ctranslate2_file.h"

#include "tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz_tensors<heed::Ctranslate2File>(bytes, size);
}
