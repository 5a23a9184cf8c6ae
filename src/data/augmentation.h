// More pairs from those there are, for what a text has too little of: names, numbers, capitals, long lines,
// and lines that are no sentence.
//
// A translator that has read of Tom ten thousand times and of Szymborska never does not know that a name it
// does not know is to be copied. So pairs that name somebody on both sides get copies in which the name is
// another one, invented letter by letter after the names of the text. The idea is old: Currey, Miceli Barone
// and Heafield, "Copied monolingual data improves low-resource neural machine translation" (2017), taught
// copying with whole sentences.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "data/name_inventor.h"
#include "data/pairs_reader.h"

namespace heed {

struct AugmentationOptions {
  /// Copies of each pair in which the same name stands on both sides, with an invented name in its place.
  int names = 0;
  /// Copies of each pair in which the same number of two digits or more stands on both sides, with another
  /// one.
  int numbers = 0;
  /// The share of pairs that get a copy in capitals.
  double capitals = 0;
  /// The share of pairs that get a copy with one to seven others behind it in the same line.
  double joined = 0;
  /// The share of pairs that get a copy without the mark that ends the sentence, as headings and single words
  /// stand.
  double bare = 0;
  /// The share of pairs behind which a line stands that is the same in both languages: a name or a number.
  double copies = 0;
  RandomKey key = {};  ///< what is made is a function of this and the text alone

  bool any() const {
    return names > 0 || numbers > 0 || capitals > 0 || joined > 0 || bare > 0 || copies > 0;
  }
};

/// Given all pairs in their order, says what is to be added to them.
class Augmentation {
 public:
  /// Reads all of `pairs`, the text that is to be extended, for its names. Throws what reading throws.
  Augmentation(PairSource& pairs, const AugmentationOptions& options);

  using Take = std::function<void(std::string_view source, std::string_view target)>;
  /// The pairs to be added behind `pair`.
  void extend(const Pair& pair, const Take& take);

  uint64_t added() const { return added_; }

 private:
  void add(const Take& take, std::string_view source, std::string_view target);
  void join(const Pair& pair, Random& random, const Take& take);
  /// What is the same in all languages.
  std::string name_or_number(Random& random) const;
  void remember(const Pair& pair, Random& random);

  AugmentationOptions options_;
  NameInventor names_;
  std::vector<std::pair<std::string, std::string>> others_;  // a sample of the pairs so far, to join with
  uint64_t seen_ = 0, added_ = 0;
};

}  // namespace heed
