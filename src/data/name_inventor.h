// Names that nobody has: letter by letter, each drawn by how often it follows the two before it in real
// names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

/// The words of `source` that look like a name (a capital, then two small letters or more, nothing else) and
/// stand in `target` too; each once.
std::vector<std::string> shared_names(std::string_view source, std::string_view target);

/// The numbers, of two digits or more, that stand on both sides; each once.
std::vector<std::string> shared_numbers(std::string_view source, std::string_view target);

/// The text with another word in the place of each `word` that stands there as a whole word.
std::string replace_word(std::string_view text, std::string_view word, std::string_view other);

class NameInventor {
 public:
  /// Learns from a name; each counts once.
  void learn(const std::string& name);
  size_t known() const { return names_.size(); }
  /// One of the names that were learnt, each as likely as any other. At least one must have been.
  const std::string& pick(Random& random) const { return learnt_[random.below(learnt_.size())]; }
  /// Mostly one or two words, 3 to 14 letters each, none of them a name that was learnt; now and then an
  /// address made of such words, or a few characters of another script. At least one name must have been
  /// learnt.
  std::string invent(Random& random) const;

 private:
  std::string invent_word(Random& random) const;
  std::string invent_new_word(Random& random) const;
  std::string invent_address(Random& random) const;

  std::set<std::string> names_;
  std::vector<std::string> learnt_;  // the same in the order in which they came
  /// The letters that followed the last two, or the last one, as often as they did; 0 is the end of a name.
  std::map<std::u32string, std::vector<char32_t>> followers_;
  std::vector<char32_t> small_letters_;  // all but the first of each name
};

}  // namespace heed
