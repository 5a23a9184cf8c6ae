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
#include "data/augmentation_choices.h"
#include "data/insertion.h"
#include "data/literal_inventor.h"
#include "data/name_inventor.h"
#include "data/pairs_reader.h"

namespace heed {

struct AugmentationOptions {
  /// Number of copies with another name, of pairs with the same name on both sides.
  int names = 0;
  /// Number of copies with another number, of pairs with the same number of at least two digits on both
  /// sides.
  int numbers = 0;
  /// Share of pairs copied in upper case.
  double uppercase = 0;
  /// Share of pairs copied with other pairs appended.
  double concatenated = 0;
  /// Share of pairs copied without final punctuation, like headings and single words.
  double no_final_punctuation = 0;
  /// Share of pairs followed by a line that is the same in both languages: a name or a number.
  double copied_spans = 0;
  /// Share of pairs copied with the source in lower case. For this and the next two options the target is
  /// unchanged, so that such input is translated to well-formed sentences.
  double lowercase = 0;
  /// Share of pairs copied with a lower-case first letter in the source.
  double uncapitalized = 0;
  /// Share of pairs copied with the source in title case and both sides without final punctuation. For
  /// English sources only.
  double title_case = 0;
  /// Approximate share of pairs copied with something inserted on both sides. Pairs that share a name or
  /// number, which it can replace, are eight times as likely as others.
  double addresses = 0;     ///< with an address, file name, date or similar on both sides
  double placeholders = 0;  ///< with one to three placeholder pieces on both sides
  double emoji = 0;         ///< with emojis on both sides
  NamesFrom names_from = NamesFrom::kInvented;
  ConcatenationLength concatenation_length = ConcatenationLength::kUniform;
  int placeholder_pieces = 0;  ///< number of placeholder pieces ⟦0⟧, ⟦1⟧, ...
  RandomKey key = {};          ///< the result depends only on this and the text

  bool any() const {
    return names > 0 || numbers > 0 || uppercase > 0 || concatenated > 0 || no_final_punctuation > 0 ||
           copied_spans > 0 || lowercase > 0 || uncapitalized > 0 || title_case > 0 || inserts();
  }
  bool inserts() const { return addresses > 0 || placeholders > 0 || emoji > 0; }
};

/// Produces the additional pairs; must be given all pairs in order.
class Augmentation {
 public:
  /// Reads all of `pairs`, the text to be augmented, to collect its names. Throws the errors of reading.
  Augmentation(PairSource& pairs, const AugmentationOptions& options);

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
  NameInventor names_;
  LiteralInventor literals_;
  std::vector<std::pair<std::string, std::string>>
      others_;  // a sample of the pairs so far, for concatenation
  uint64_t seen_ = 0;
  std::array<uint64_t, kKinds> added_{};
};

}  // namespace heed
