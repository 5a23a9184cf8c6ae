// Data augmentation of sentence pairs for phenomena that are rare in the training data: names, numbers,
// addresses, upper and lower case, several sentences per line, fragments, and placeholders.
//
// For example, a model that has seen the name Tom ten thousand times and Szymborska never has not learnt to
// copy unknown names. Pairs with the same name on both sides therefore get copies with other names, generated
// by a letter n-gram model. Currey, Miceli Barone and Heafield, "Copied monolingual data improves
// low-resource neural machine translation" (2017), taught copying with whole sentences.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "data/augment/augmentation_options.h"
#include "data/augment/insertion.h"
#include "data/augment/literal_inventor.h"
#include "data/augment/name_inventor.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed {

/// Produces the additional pairs; must be given all pairs in order.
class Augmentation {
 public:
  /// Reads all of `pairs`, the text to be augmented, to collect its names. The added pairs depend only on the
  /// text, the options and `key`. options.placeholders needs the number of placeholder pieces ⟦0⟧, ⟦1⟧, ...
  /// of the vocabulary. Throws the errors of reading.
  Augmentation(PairSource& pairs, const AugmentationOptions& options, RandomKey key,
               int placeholder_pieces = 0);

  using Take = std::function<void(std::string_view source, std::string_view target)>;
  /// Passes the pairs to be added after `pair` to `take`.
  void extend(const Pair& pair, const Take& take);

  uint64_t added() const;
  /// The number of added pairs by kind, with the keys of recipes: "320 names, 12 uppercase".
  std::string added_by_kind() const;

 private:
  enum Kind {
    kNames,
    kNumbers,
    kUppercase,
    kConcatenated,
    kNoFinalPunctuation,
    kCopiedSpans,
    kLowercase,
    kUncapitalized,
    kTitleCase,
    kAddresses,
    kPlaceholders,
    kEmoji,
    kKinds
  };
  void add(const Take& take, Kind kind, std::string_view source, std::string_view target);
  void change_case(const Pair& pair, RandomKey key, const Take& take);
  void insert(const Pair& pair, RandomKey key, const Take& take);
  std::vector<std::string> some_placeholders(Random& random) const;
  std::string some_name(Random& random) const;
  void join(const Pair& pair, Random& random, const Take& take);
  /// A line that is the same in all languages.
  std::string name_or_number(Random& random) const;
  void remember(const Pair& pair, Random& random);

  AugmentationOptions options_;
  RandomKey key_;
  int placeholder_pieces_;
  NameInventor names_;
  LiteralInventor literals_;
  std::vector<std::pair<std::string, std::string>>
      others_;  // a sample of the pairs so far, for concatenation
  uint64_t seen_ = 0;
  std::array<uint64_t, kKinds> added_{};
};

}  // namespace heed
