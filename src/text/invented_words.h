// Words that a translation made up: in neither language's known text, nor copied from the source.
//
// A word is a run of letters (with their combining marks) that touches no digit; words are compared after
// normalisation (NFC) and case folding. So "3rd" and "B12" hold no word, "don't" holds two, and "Straße" and
// "STRASSE" are one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace heed {

/// The words of text, as they are spelt there (NFC), in order. Throws kText for invalid UTF-8.
std::vector<std::string> letter_words(std::string_view text);

/// How two spellings of a word are compared: full case folding.
std::string folded_word(const std::string& word);

class KnownWords {
 public:
  /// All words of a text. Throws kText for invalid UTF-8.
  void add(std::string_view text);
  size_t size() const { return words_.size(); }

  bool contains(const std::string& word) const { return words_.contains(folded_word(word)); }
  /// Whether a word is two or more known words of at least four letters each, one behind the other, as German
  /// writes compounds; between two of them -s-, -es-, -n-, -en-, -er- or -e- may stand.
  bool contains_parts_of(const std::string& word) const;

 private:
  std::unordered_set<std::string> words_;  // folded
};

struct InventedWordsOptions {
  bool compounds = false;  ///< compounds of known words are known
};

/// The words of `output` that are neither known nor words of one of `copied` (the source line, a reference),
/// each once, as they are spelt. Throws kText for invalid UTF-8.
std::vector<std::string> invented_words(std::string_view output, const std::vector<std::string_view>& copied,
                                        const KnownWords& known, const InventedWordsOptions& options = {});

}  // namespace heed
