// Text on its way through a tokenizer, with the part of the original text that each byte comes from.
//
// Normalizers and pre-tokenizers rewrite text and keep the origins: a character that replaces another has the
// other's origin, an inserted character that of the character before it. The rules are those of Hugging
// Face's tokenizers, so that the offsets of tokens are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// The bytes [begin, end) of the original text.
struct Origin {
  uint32_t begin = 0, end = 0;
  bool operator==(const Origin&) const = default;
};

/// A character of the new text in a rewriting of the whole text. `change` 0: it replaces one character;
/// 1: it is inserted; -n: it replaces n + 1 characters.
struct Edit {
  char32_t character = 0;
  int32_t change = 0;
};

/// Always valid UTF-8.
class AlignedText {
 public:
  AlignedText() = default;
  /// The bytes [begin, end) of `original`. Ill-formed UTF-8 becomes U+FFFD, as in replace_invalid_utf8().
  AlignedText(std::string_view original, size_t begin, size_t end);
  /// Valid UTF-8 with an origin for each byte.
  AlignedText(std::string text, std::vector<Origin> origins)
      : text_(std::move(text)), origins_(std::move(origins)) {}

  const std::string& text() const { return text_; }
  std::string_view text(size_t begin, size_t end) const {
    return std::string_view(text_).substr(begin, end - begin);
  }
  size_t size() const { return text_.size(); }
  bool empty() const { return text_.empty(); }
  bool is_ascii() const;
  /// The origin of a byte; all bytes of a character have the same.
  Origin origin(size_t byte) const { return origins_[byte]; }
  /// The origin of the bytes [begin, end), which must not be empty.
  Origin origin(size_t begin, size_t end) const { return {origins_[begin].begin, origins_[end - 1].end}; }

  /// The most bytes that it may have: append() and prepend() of text throw TextTooLong beyond. A text that
  /// replaces this one must be given the same limit.
  void set_limit(size_t bytes) { limit_ = bytes; }
  size_t limit() const { return limit_; }

  void reserve(size_t bytes);
  void clear();
  void append(std::string_view text, Origin origin);
  void append(char byte, Origin origin) {
    text_.push_back(byte);
    origins_.push_back(origin);
  }
  void append(const AlignedText& other, size_t begin, size_t end);

  /// Replaces a byte of ASCII by another.
  void set(size_t byte, char value) { text_[byte] = value; }

  /// Rewrites the whole text; the first `removed` characters have no successor.
  void rewrite(std::span<const Edit> edits, size_t removed = 0);
  /// Inserts text before the first character; does nothing if there is none.
  void prepend(std::string_view text);

 private:
  std::string text_;
  std::vector<Origin> origins_;
  size_t limit_ = std::numeric_limits<size_t>::max();
};

/// The code point at `at` of valid UTF-8; advances `at`.
inline char32_t take_code_point(std::string_view text, size_t& at) {
  const auto byte = [&](size_t n) { return static_cast<char32_t>(static_cast<unsigned char>(text[at + n])); };
  const char32_t first = byte(0);
  if (first < 0x80) {
    ++at;
    return first;
  }
  char32_t c = 0;
  if (first < 0xE0) {
    c = (first & 0x1F) << 6 | (byte(1) & 0x3F);
    at += 2;
  } else if (first < 0xF0) {
    c = (first & 0xF) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    at += 3;
  } else {
    c = (first & 7) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    at += 4;
  }
  return c;
}

/// The length in bytes of a character of valid UTF-8, by its first byte.
inline size_t length_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace heed
