// Detects invented words in translations: words that occur neither in known text of both languages nor in the
// source.
//
// A word is a run of letters (with combining marks) without adjacent digits. Words are compared after NFC
// normalization and case folding: "3rd" and "B12" contain no word, "don't" contains two, and "Straße" and
// "STRASSE" are the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace heed {

/// The words of a text in order, in their original spelling (NFC). Throws kText for invalid UTF-8.
std::vector<std::string> letter_words(std::string_view text);

/// The form for comparison: full case folding.
std::string folded_word(const std::string& word);

class KnownWords {
 public:
  /// Adds all words of a text. Throws kText for invalid UTF-8.
  void add(std::string_view text);
  size_t size() const { return words_.size(); }

  bool contains(const std::string& word) const { return words_.contains(folded_word(word)); }
  /// Whether a word is a compound of known words of at least four letters each, as in German, with an
  /// optional linking element -s-, -es-, -n-, -en-, -er- or -e- between them.
  bool contains_compound(const std::string& word) const;

 private:
  std::unordered_set<std::string> words_;  // folded
  size_t longest_ = 0;                     // of these, in code points
};

struct InventedWordsOptions {
  bool compounds = false;  ///< treat compounds of known words as known
};

/// The distinct words of `output` that are neither known nor in one of `copied` (source line, reference), in
/// their original spelling. Throws kText for invalid UTF-8.
std::vector<std::string> invented_words(std::string_view output, const std::vector<std::string_view>& copied,
                                        const KnownWords& known, const InventedWordsOptions& options = {});

}  // namespace heed
