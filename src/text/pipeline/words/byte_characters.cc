#include "text/pipeline/words/byte_characters.h"

#include <array>

#include "text/unicode/utf8.h"

namespace heed {
namespace {

bool is_printable(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

}  // namespace

const std::vector<std::string>& characters_of_bytes() {
  static const std::vector<std::string> characters = [] {
    std::vector<std::string> all(256);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      append_utf8(all[byte], is_printable(byte) ? static_cast<char32_t>(byte) : next++);
    }
    return all;
  }();
  return characters;
}

std::vector<unsigned char> bytes_in_character_order() {
  std::vector<unsigned char> bytes;
  for (const bool printable : {true, false}) {
    for (int byte = 0; byte < 256; ++byte) {
      if (is_printable(byte) == printable) bytes.push_back(static_cast<unsigned char>(byte));
    }
  }
  return bytes;
}

std::string characters_of(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes) characters += characters_of_bytes()[static_cast<unsigned char>(byte)];
  return characters;
}

std::optional<std::string> bytes_of_characters(std::string_view characters) {
  constexpr char32_t kEnd = 0x180;  // all characters are below
  static const std::array<int16_t, kEnd> bytes = [] {
    std::array<int16_t, kEnd> table{};
    table.fill(-1);
    for (size_t byte = 0; byte < 256; ++byte) {
      size_t at = 0;
      table[next_code_point(characters_of_bytes()[byte], at)] = static_cast<int16_t>(byte);
    }
    return table;
  }();
  std::string text;
  for (size_t at = 0; at < characters.size();) {
    const char32_t c = next_code_point(characters, at);
    if (c >= kEnd || bytes[c] < 0) return std::nullopt;
    text.push_back(static_cast<char>(bytes[c]));
  }
  return text;
}

}  // namespace heed
