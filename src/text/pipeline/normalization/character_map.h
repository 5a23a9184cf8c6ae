// SentencePiece's compiled character map: the strings that a normalizer replaces, and by what.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Lookups stay inside of a map without fault (text/pipeline/normalization/charsmap_check.h). The constructor
/// does not look for one: who reads the file has done that.
class CharacterMap {
 public:
  CharacterMap() = default;
  /// See find_charsmap_fault() for the format. Empty: no strings.
  explicit CharacterMap(std::string_view table);

  struct Match {
    size_t length = 0;  ///< bytes of the text; 0: no key
    std::string_view replacement = {};
  };
  /// The longest or the shortest key that a text begins with.
  Match longest(std::string_view text) const { return find(text, /*longest=*/true); }
  Match shortest(std::string_view text) const { return find(text, /*longest=*/false); }
  /// Whether a key begins with this byte.
  bool begins_key(char byte) const;

 private:
  Match find(std::string_view text, bool longest) const;

  std::vector<uint32_t> units_;  // a double array of Darts-clone
  std::string replacements_;     // each with a zero behind it
};

}  // namespace heed
