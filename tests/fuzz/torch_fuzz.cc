#include "io/torch/torch_file.h"

#include "tensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz_tensors<heed::TorchFile>(bytes, size);
}
