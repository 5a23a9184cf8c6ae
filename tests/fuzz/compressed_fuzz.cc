// Lines of a file that may be compressed by gzip or zstd.
#include "data/corpus/readers/line_reader.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const heed::FileOfBytes file(bytes, size);
  return heed::fuzz([&] {
    heed::LineReader reader(file.path(), {.lossy = true});
    std::string_view line;
    for (size_t read = 0; read < size_t{1} << 22 && reader.next(line);) read += line.size() + 1;
  });
}
