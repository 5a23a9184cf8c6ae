#include "data/corpus/readers/whole_text.h"

#include <algorithm>

#include "data/corpus/readers/byte_source.h"
#include "data/corpus/readers/text_bytes.h"

namespace heed {
namespace {

std::string read_all(ByteSource& source) {
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

/// Throws the error for the first line that is not text.
[[noreturn]] void refuse_text(std::string_view text, const std::string& name) {
  for (uint64_t number = 1;; ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    if (!is_text(text.substr(0, end))) refuse_line(text.substr(0, end), number, name);
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string read_whole_text(const std::string& path, bool lossy) {
  ByteSource source(path);
  std::string text = read_all(source);
  if (is_text(text)) return text;
  if (!lossy) refuse_text(text, source.name());
  return replace_what_is_no_text(text);
}

}  // namespace heed
