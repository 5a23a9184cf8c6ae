#include "base/text/base64.h"

#include <cstdint>

namespace heed {

std::string to_base64(const void* bytes, size_t size) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* all = static_cast<const unsigned char*>(bytes);
  std::string text;
  text.reserve((size + 2) / 3 * 4);
  for (size_t n = 0; n < size; n += 3) {
    const auto byte = [&](size_t at) { return at < size ? uint32_t{all[at]} : 0; };
    const uint32_t three = byte(n) << 16 | byte(n + 1) << 8 | byte(n + 2);
    for (int shift = 18; shift >= 0; shift -= 6) text += kDigits[three >> shift & 63];
  }
  for (size_t n = 0; n < (3 - size % 3) % 3; ++n) text[text.size() - 1 - n] = '=';
  return text;
}

}  // namespace heed
