#include "text/pipeline/shown_piece.h"

#include "base/check.h"
#include "text/pipeline/segmentation/space_mark.h"
#include "text/unicode/utf8.h"

namespace heed {

std::string shown_piece(std::string_view bytes) {
  std::string piece;
  for (size_t at = 0; at < bytes.size();) {
    size_t next = at;
    const char32_t c = next_code_point(bytes, next);
    const bool broken = find_invalid_utf8(bytes.substr(at, next - at)).has_value();
    if (c == U' ') {
      piece += kSpaceMark;
    } else if (broken || c < 0x20 || c == 0x7F) {
      for (size_t n = at; n < next; ++n) {
        piece += fmt::format("<0x{:02X}>", static_cast<unsigned char>(bytes[n]));
      }
    } else {
      piece += bytes.substr(at, next - at);
    }
    at = next;
  }
  return piece;
}

}  // namespace heed
