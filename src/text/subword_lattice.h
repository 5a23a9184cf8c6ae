// Samples segmentations of a text under a unigram model with forward filtering and backward sampling over the
// lattice of all segmentations (Kudo, "Subword regularization", 2018, section 3.3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

/// The pieces of a unigram model with their log-probabilities.
class SubwordLattice {
 public:
  /// `number` identifies the piece in the result of sample().
  struct Entry {
    std::string text;
    float score = 0;
    int number = 0;
  };
  /// Entries may be in any order. Throws kFormat for duplicate or empty texts.
  explicit SubwordLattice(std::vector<Entry> entries);

  struct Segment {
    size_t begin = 0, end = 0;  ///< bytes of the text
    int number = 0;
  };
  /// Samples a segmentation with probability proportional to the product of p(piece)^alpha; empty if `text`
  /// has none. O(bytes x longest entry).
  std::vector<Segment> sample(std::string_view text, double alpha, Random& random) const;

 private:
  struct Edge {
    size_t begin = 0;
    double weight = 0;  // log of the total weight of all segmentations that end with this edge
    int number = 0;
  };

  std::vector<Entry> entries_;  // sorted by text
};

}  // namespace heed
