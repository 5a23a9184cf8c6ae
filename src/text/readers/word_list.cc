#include "text/readers/word_list.h"

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "text/readers/tokenizer_file.h"
#include "text/unicode/utf8.h"

namespace heed {

std::vector<std::string> read_word_list(const std::string& path) {
  const std::string text = read_tokenizer_file(path);
  if (const auto offset = find_invalid_utf8(text)) {
    fail(ErrorKind::kFormat, "{} is not valid UTF-8 at byte {}: it is not a list of pieces", path, *offset);
  }
  if (!text.empty() && text.back() != '\n') {
    log_warning("the last line of {} has no line end: the file may be truncated", path);
  }
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size());
    size_t end = newline;
    if (end > begin && text[end - 1] == '\r') --end;
    lines.push_back(text.substr(begin, end - begin));
    begin = newline + 1;
  }
  return lines;
}

}  // namespace heed
