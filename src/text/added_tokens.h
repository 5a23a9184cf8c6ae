// Added tokens: tokens outside of a tokenizer's model that are matched literally before the rest of the text
// is tokenized. Special ones ("</s>") are matched on request, others ("<tool_call>") always. The rules are
// those of Hugging Face's tokenizers.
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
  bool special = true;       ///< decodes to no text, and is matched only on request
  bool strip_left = false;   ///< includes preceding white space ("lstrip")
  bool strip_right = false;  ///< includes following white space ("rstrip")
  bool single_word = false;  ///< only matches if no word character is adjacent
  bool normalized = false;   ///< matched in the normalised text, after all others
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
  /// All matches in a text, from left to right, the longest at each position.
  std::vector<Found> find_in(std::string_view text, bool special) const;

 private:
  /// The matches in text[begin, end) of tokens with this value of `normalized`.
  void find_between(std::string_view text, size_t begin, size_t end, bool special, bool normalized,
                    std::vector<Found>& found) const;

  /// The longest token at the beginning of text[at, end), or nullptr.
  const AddedToken* token_at(std::string_view text, size_t at, size_t end, bool normalized) const;

  std::vector<AddedToken> tokens_;  // sorted by content
  std::unordered_map<int32_t, size_t> by_id_;
};

}  // namespace heed
