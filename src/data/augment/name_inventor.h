// Generates names with a letter trigram model of real names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

/// The distinct words of `source` that look like a name (a capital and at least two lower-case letters) and
/// also occur in `target`.
std::vector<std::string> shared_names(std::string_view source, std::string_view target);

/// The distinct numbers of at least two digits that occur on both sides.
std::vector<std::string> shared_numbers(std::string_view source, std::string_view target);

/// Replaces each whole-word occurrence of `word`.
std::string replace_word(std::string_view text, std::string_view word, std::string_view other);

class NameInventor {
 public:
  /// Adds a name to the model; duplicates are ignored.
  void learn(const std::string& name);
  size_t known() const { return names_.size(); }
  /// A uniform sample of the learnt names, of which there must be at least one.
  const std::string& pick(Random& random) const { return learnt_[random.below(learnt_.size())]; }
  /// Usually one or two new words of 3 to 14 letters; occasionally an address made of such words, or a few
  /// characters of another script. Requires at least one learnt name.
  std::string invent(Random& random) const;

 private:
  std::string invent_word(Random& random) const;
  std::string invent_new_word(Random& random) const;
  std::string invent_address(Random& random) const;

  std::set<std::string> names_;
  std::vector<std::string> learnt_;  // the same in order of appearance

  /// For each context of two, one or no letters, all letters that followed it, with repetitions; 0: end of
  /// the name.
  std::map<std::u32string, std::vector<char32_t>> followers_;
  std::vector<char32_t> small_letters_;  // all except first letters
};

}  // namespace heed
