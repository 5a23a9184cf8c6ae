// Letters and digits of ASCII, whatever the locale, for the syntax of formats and protocols: names of tags,
// headers and options. What users write has letters of all scripts: text/unicode/unicode_properties.h.
#pragma once

#include <string>
#include <string_view>

namespace heed {

constexpr bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}
constexpr bool is_ascii_lower(char32_t c) {
  return c >= U'a' && c <= U'z';
}
constexpr bool is_ascii_upper(char32_t c) {
  return c >= U'A' && c <= U'Z';
}
constexpr bool is_ascii_letter(char32_t c) {
  return is_ascii_lower(c) || is_ascii_upper(c);
}
constexpr bool is_ascii_alphanumeric(char32_t c) {
  return is_ascii_letter(c) || is_ascii_digit(c);
}

constexpr char ascii_lower(char c) {
  return is_ascii_upper(static_cast<unsigned char>(c)) ? static_cast<char>(c - 'A' + 'a') : c;
}
constexpr char ascii_upper(char c) {
  return is_ascii_lower(static_cast<unsigned char>(c)) ? static_cast<char>(c - 'a' + 'A') : c;
}
/// Other characters stay as they are.
inline std::string ascii_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = ascii_lower(c);
  return lower;
}

}  // namespace heed
