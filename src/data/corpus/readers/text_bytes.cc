#include "data/corpus/readers/text_bytes.h"

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace heed {

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && !find_invalid_utf8(bytes);
}

void refuse_line(std::string_view line, uint64_t number, const std::string& name) {
  if (line.find('\0') != std::string_view::npos) {
    fail(ErrorKind::kFormat, "line {} of {} has a NUL byte: give a text file in UTF-8 (convert UTF-16 first)",
         number, name);
  }
  const size_t invalid = find_invalid_utf8(line).value();
  fail(ErrorKind::kText,
       "line {} of {} is not UTF-8: byte {} of the line is 0x{:02X}; convert the file to UTF-8", number, name,
       invalid + 1, static_cast<unsigned char>(line[invalid]));
}

std::string replace_what_is_no_text(std::string_view bytes) {
  std::string replaced;
  for (const char byte : replace_invalid_utf8(bytes)) {
    if (byte == '\0') {
      replaced += "\xEF\xBF\xBD";
    } else {
      replaced += byte;
    }
  }
  return replaced;
}

}  // namespace heed
