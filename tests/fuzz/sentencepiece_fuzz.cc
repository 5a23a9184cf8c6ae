// SentencePiece models (.spm, tokenizer.model).
#include "fuzz.h"
#include "text/readers/sentencepiece_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz([&] { (void)heed::read_sentencepiece_file(heed::text_of(bytes, size), "input"); });
}
