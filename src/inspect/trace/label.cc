#include "inspect/trace/label.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "text/pipeline/segmentation/byte_piece.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr std::string_view kWordMark = "\u2581";
constexpr char32_t kSubscriptZero = 0x2080, kControlPictures = 0x2400;

/// Marks that reorder or hide the text around them: bidirectional controls, separators, byte order mark.
bool turns_text(char32_t code) {
  return (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) || code == 0x061C ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200B || code == 0xFEFF;
}

std::string_view special_name(std::string_view token) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNames{
      {{"</s>", "\u27E8end\u27E9"},
       {"<s>", "\u27E8start\u27E9"},
       {"<pad>", "\u27E8pad\u27E9"},
       {"<unk>", "\u27E8unknown\u27E9"},
       {"<bos>", "\u27E8start\u27E9"},
       {"<eos>", "\u27E8end\u27E9"},
       {"<|endoftext|>", "\u27E8end\u27E9"},
       {"[CLS]", "[CLS]"},
       {"[SEP]", "[SEP]"}}};
  for (const auto& [name, shown] : kNames) {
    if (token == name) return shown;
  }
  return {};
}

/// The length in bytes of the valid character at the beginning; 0 if there is none.
size_t character_length(std::string_view bytes) {
  for (size_t length = 1; length <= std::min<size_t>(4, bytes.size()); ++length) {
    if (!find_invalid_utf8(bytes.substr(0, length))) return length;
  }
  return 0;
}

/// Appends the labels of the run of byte pieces that begins at `begin`.
void label_bytes(const std::vector<std::string>& tokens, size_t begin, std::vector<Label>& labels) {
  std::string bytes;
  for (size_t n = begin; n < tokens.size() && byte_of_piece(tokens[n]) >= 0; ++n) {
    bytes.push_back(static_cast<char>(byte_of_piece(tokens[n])));
  }
  for (size_t n = 0; n < bytes.size();) {
    const size_t length = character_length(std::string_view(bytes).substr(n));
    if (length == 0) {
      labels.push_back({fmt::format("0x{:02X}", static_cast<unsigned char>(bytes[n])), 2, 0});
      ++n;
      continue;
    }
    const std::string shown = visible_text(bytes.substr(n, length));
    for (size_t part = 1; part <= length; ++part) {
      std::string number;
      if (length > 1) append_utf8(number, kSubscriptZero + static_cast<char32_t>(part));
      labels.push_back({shown + number, 0, number.size()});
    }
    n += length;
  }
}

}  // namespace

bool strip_word_mark(std::string_view& piece) {
  if (piece.substr(0, kWordMark.size()) != kWordMark) return false;
  piece.remove_prefix(kWordMark.size());
  return true;
}

bool is_special_token(std::string_view token) {
  return !special_name(token).empty();
}

std::string visible_text(std::string_view text) {
  std::string shown;
  for (const char32_t code : utf8_to_utf32(text)) {
    if (code == '\n' || code == '\r') {
      shown += "\u23CE";
    } else if (code == '\t') {
      shown += "\u21E5";
    } else if (code < 0x20) {
      append_utf8(shown, kControlPictures + code);
    } else if (code == 0x7F) {
      append_utf8(shown, kControlPictures + 0x21);
    } else if ((code >= 0x80 && code < 0xA0) || turns_text(code) || code == 0xFFFE || code == 0xFFFF) {
      shown += fmt::format("U+{:04X}", static_cast<unsigned>(code));
    } else {
      append_utf8(shown, code);
    }
  }
  return shown;
}

std::vector<Label> token_labels(const std::vector<std::string>& tokens, std::string_view word_mark) {
  std::vector<Label> labels;
  while (labels.size() < tokens.size()) {
    std::string_view token = tokens[labels.size()];
    if (byte_of_piece(token) >= 0) {
      label_bytes(tokens, labels.size(), labels);
    } else if (is_special_token(token)) {
      labels.push_back({std::string(special_name(token)), 0, 0});
    } else if (strip_word_mark(token)) {
      labels.push_back({std::string(word_mark) + visible_text(token), word_mark.size(), 0});
    } else {
      labels.push_back({visible_text(token), 0, 0});
    }
  }
  return labels;
}

}  // namespace heed
