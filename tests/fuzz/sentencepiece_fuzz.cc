// SentencePiece models (.spm, tokenizer.model): what is read encodes text, and decodes what it encoded.
#include "fuzz.h"
#include "text/readers/sentencepiece_parts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  return heed::fuzz([&] {
    const heed::SentencePieceFile file = heed::read_sentencepiece_file(heed::text_of(bytes, size), "input");
    const heed::TextPipeline pipeline(heed::sentencepiece_parts(file, "input"), file.size());
    (void)pipeline.decode(pipeline.encode("Der alte Mann, \xE2\x82\xAC 3.").ids);
  });
}
