// Tokens that stand outside of a tokenizer's model and are found in a text as they are spelt, before the rest
// is cut: the special ones ("</s>") where they are asked for, and the others ("<tool_call>") always. The
// rules are those of Hugging Face's tokenizers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heed {

struct AddedToken {
  int32_t id = 0;
  std::string content = {};
  bool special = true;       ///< stands for no text, and is read only where asked for
  bool strip_left = false;   ///< takes the white space before it ("lstrip")
  bool strip_right = false;  ///< and behind it ("rstrip")
  bool single_word = false;  ///< only where no word character stands beside it
  bool normalized = false;   ///< looked for in the normalised text, after all that are not
};

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Contents must be distinct and not empty.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  const std::vector<AddedToken>& list() const { return tokens_; }
  /// The token with this id, or nullptr.
  const AddedToken* find(int32_t id) const;
  bool is_special(int32_t id) const {
    const AddedToken* token = find(id);
    return token != nullptr && token->special;
  }

  struct Found {
    int32_t id = 0;
    size_t begin = 0, end = 0;  // bytes of the text
  };
  /// All in a text, from left to right; at each place the longest.
  std::vector<Found> find_in(std::string_view text, bool special) const;

 private:
  /// Of the tokens with this value of `normalized`, those in text[begin, end).
  void find_between(std::string_view text, size_t begin, size_t end, bool special, bool normalized,
                    std::vector<Found>& found) const;

  /// The longest token that text[at, end) begins with, or nullptr.
  const AddedToken* token_at(std::string_view text, size_t at, size_t end, bool normalized) const;

  std::vector<AddedToken> tokens_;  // sorted by content
  std::unordered_map<int32_t, size_t> by_id_;
};

}  // namespace heed
