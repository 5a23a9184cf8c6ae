// More pairs from those there are, for what a text has too little of: names, numbers, addresses, capitals,
// small letters, long lines, lines that are no sentence, and placeholders.
//
// A translator that has read of Tom ten thousand times and of Szymborska never does not know that a name it
// does not know is to be copied. So pairs that name somebody on both sides get copies in which the name is
// another one, invented letter by letter after the names of the text. The idea is old: Currey, Miceli Barone
// and Heafield, "Copied monolingual data improves low-resource neural machine translation" (2017), taught
// copying with whole sentences.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "data/augmentation_choices.h"
#include "data/insertion.h"
#include "data/literal_inventor.h"
#include "data/name_inventor.h"
#include "data/pairs_reader.h"

namespace heed {

struct AugmentationOptions {
  /// Copies of each pair in which the same name stands on both sides, with another name in its place.
  int names = 0;
  /// Copies of each pair in which the same number of two digits or more stands on both sides, with another
  /// one.
  int numbers = 0;
  /// The share of pairs that get a copy in capitals.
  double capitals = 0;
  /// The share of pairs that get a copy with others behind it in the same line.
  double joined = 0;
  /// The share of pairs that get a copy without the mark that ends the sentence, as headings and single words
  /// stand.
  double bare = 0;
  /// The share of pairs behind which a line stands that is the same in both languages: a name or a number.
  double copies = 0;
  /// The share of pairs that get a copy with the source in lower case. Here and in the next two, the target
  /// is unchanged, so that such input is translated to proper sentences.
  double lowercase = 0;
  /// The share that gets a copy whose source lacks its first capital.
  double uncapitalized = 0;
  /// The share that gets a copy with the source In Title Case, both sides without final punctuation. For
  /// English sources only.
  double titles = 0;
  /// The approximate share of pairs that get a copy with something inserted on both sides. Pairs that share a
  /// name or number, which it can replace, are eight times as likely as others.
  double addresses = 0;     ///< with an address, a name of a file, a date or the like on both sides
  double placeholders = 0;  ///< with one to three placeholder pieces on both sides
  double emoji = 0;         ///< with emojis on both sides
  NamesFrom names_from = NamesFrom::kInvented;
  JoinedSentences joined_sentences = JoinedSentences::kUniform;
  int placeholder_pieces = 0;  ///< how many there are: ⟦0⟧, ⟦1⟧, ...
  RandomKey key = {};          ///< what is made is a function of this and the text alone

  bool any() const {
    return names > 0 || numbers > 0 || capitals > 0 || joined > 0 || bare > 0 || copies > 0 ||
           lowercase > 0 || uncapitalized > 0 || titles > 0 || inserts();
  }
  bool inserts() const { return addresses > 0 || placeholders > 0 || emoji > 0; }
};

/// Given all pairs in their order, says what is to be added to them.
class Augmentation {
 public:
  /// Reads all of `pairs`, the text that is to be extended, for its names. Throws what reading throws.
  Augmentation(PairSource& pairs, const AugmentationOptions& options);

  using Take = std::function<void(std::string_view source, std::string_view target)>;
  /// The pairs to be added behind `pair`.
  void extend(const Pair& pair, const Take& take);

  uint64_t added() const;
  /// "320 names, 12 capitals": how many pairs were added for what, in the words of recipes.
  std::string added_by_kind() const;

 private:
  enum Kind {
    kNames,
    kNumbers,
    kCapitals,
    kJoined,
    kBare,
    kCopies,
    kLowercase,
    kUncapitalized,
    kTitles,
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
  /// What is the same in all languages.
  std::string name_or_number(Random& random) const;
  void remember(const Pair& pair, Random& random);

  AugmentationOptions options_;
  NameInventor names_;
  LiteralInventor literals_;
  std::vector<std::pair<std::string, std::string>> others_;  // a sample of the pairs so far, to join with
  uint64_t seen_ = 0;
  std::array<uint64_t, kKinds> added_{};
};

}  // namespace heed
