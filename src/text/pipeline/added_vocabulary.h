// Added tokens: tokens outside of a tokenizer's model that are found in a text before the model sees it, some
// of them in the normalized text. The rules are those of Hugging Face's tokenizers.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "text/pipeline/normalization/normalizer.h"
#include "text/pipeline/segmentation/byte_trie.h"

namespace heed {

struct AddedToken {
  int32_t id = 0;
  std::string content = {};
  bool special = true;       ///< decodes to no text, and is matched only on request
  bool strip_left = false;   ///< includes preceding white space ("lstrip")
  bool strip_right = false;  ///< includes following white space ("rstrip")
  bool single_word = false;  ///< only matches if no word character is adjacent
  bool normalized = false;   ///< matched in the normalized text, after all others

  /// Whether it is a special token with the defaults above.
  bool is_plain() const { return special && !strip_left && !strip_right && !single_word && !normalized; }
};

/// Whether special tokens in a text ("</s>") stand for themselves; otherwise they are ordinary text, except
/// `also`.
struct SpecialTokenOptions {
  bool special_tokens = true;
  std::span<const int32_t> also = {};  ///< ids
};

class AddedVocabulary {
 public:
  AddedVocabulary() = default;
  /// Contents must be distinct and not empty.
  explicit AddedVocabulary(std::vector<AddedToken> tokens, const NormalizerList& normalizers = {});

  /// The token with this id, or nullptr.
  const AddedToken* find(int32_t id) const;
  /// What decoders see of a token: its text as the normalizers write it. nullptr if it is no added token.
  const std::string* decoded(int32_t id) const;
  bool is_special(int32_t id) const {
    const AddedToken* token = find(id);
    return token != nullptr && token->special;
  }
  bool is_special(const std::string& content) const { return special_.contains(content); }
  bool has_special() const { return !special_.empty(); }
  /// Where to cut a text so that no part contains a special token of several characters: behind the first
  /// character of each.
  std::vector<size_t> cuts_in_special(std::string_view text) const;

  /// A stretch of a text; `id` -1: not an added token.
  struct Part {
    size_t begin = 0, end = 0;
    int32_t id = -1;
  };
  /// Cuts a text at the added tokens that are matched in the normalized text, or at the others.
  std::vector<Part> cut(std::string_view text, bool normalized, const SpecialTokenOptions& options) const;
  /// Both cuts of a text that no normalizer changes.
  std::vector<Part> cut(std::string_view text, const SpecialTokenOptions& options) const;

 private:
  std::vector<AddedToken> tokens_;
  std::unordered_map<int32_t, size_t> by_id_;
  std::vector<std::string> written_;  // of tokens_, normalized
  std::unordered_set<std::string> special_;
  ByteTrie literal_, normalized_;
  ByteTrie spelt_;  // special tokens of several characters
  bool has_literal_ = false, has_normalized_ = false;
};

}  // namespace heed
