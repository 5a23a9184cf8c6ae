#include "data/corpus/readers/whole_text.h"

#include <algorithm>

#include "data/corpus/readers/byte_source.h"

namespace heed {

std::string read_whole_text(const std::string& path) {
  ByteSource source(path);
  std::string text;
  size_t used = 0;
  while (true) {
    constexpr size_t kFirst = 65536;
    if (used == text.size()) text.resize(std::max(kFirst, 2 * text.size()));
    const size_t count = source.read(text.data() + used, text.size() - used);
    if (count == 0) break;
    used += count;
  }
  text.resize(used);
  return text;
}

}  // namespace heed
