// Words and phrases that a translation must not contain.
//
// A model can write the same word with different tokens ("▁garden", "▁gar" + "den"), so the search compares
// text: a token is suppressed where it would complete a forbidden phrase as a whole word. A longer word that
// is written as a forbidden word and a suffix ("▁garden" + "er") is therefore avoided too; as one token
// ("▁gardener") it is allowed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizers/vocabulary.h"

namespace heed::search {

class ForbiddenWords {
 public:
  /// A phrase without capital letters is also found in other case ("garden" in "Garden" and "GARDEN"), one
  /// with capitals only as it is written. A * at the end stands for any letters ("garden*" is found in
  /// "gardeners"). White space in a phrase counts as one space. Throws kUsage for a blank
  /// phrase. Takes time in proportion to the bytes of the vocabulary and the number of phrases.
  ForbiddenWords(const Vocabulary& vocabulary, const std::vector<std::string>& phrases);

  /// The tokens that would complete a phrase after `ids`, sorted. Thread-safe.
  std::vector<int32_t> completing(std::span<const int32_t> ids) const;

  /// The first phrase that occurs in a text as a whole word; empty if none does.
  std::string found_in(std::string_view text) const;

 private:
  struct Phrase {
    std::string written;  ///< as the caller gave it
    std::string text;     ///< in folded case if it has no capitals
    bool exact = false;   ///< whether case counts
    bool begins = false;  ///< whether words that begin with it count too
    /// completions[k]: the tokens that complete the phrase where its first k bytes are already written, for
    /// each k with such tokens; for k = 0 at the beginning of a token.
    std::map<size_t, std::vector<int32_t>> completions = {};
    std::vector<int32_t> inside = {};  ///< tokens that contain the whole phrase after their first byte
  };
  static void index(const std::string& token, int32_t id, Phrase& phrase);

  std::vector<std::string> tokens_;  // the text of each token; empty for special tokens
  std::vector<Phrase> phrases_;
  size_t longest_ = 0;  // bytes of the longest phrase
};

}  // namespace heed::search
