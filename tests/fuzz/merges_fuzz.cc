// merges.txt and vocab.txt.
#include "fuzz.h"
#include "text/readers/merges_file.h"
#include "text/readers/word_list.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const heed::FileOfBytes file(bytes, size);
  heed::fuzz([&] { (void)heed::read_merges(file.path()); });
  return heed::fuzz([&] { (void)heed::read_word_list(file.path()); });
}
