// All ways to cut a text into the pieces of a unigram model, and draws from them: forward filtering, backward
// sampling (Kudo, "Subword regularization", 2018, section 3.3; the lattice is that of a hidden semi-Markov
// model).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"

namespace heed {

/// The pieces that a text may be cut into, each with its log-probability.
class SubwordLattice {
 public:
  /// `number` is what draw() returns for the piece.
  struct Entry {
    std::string text;
    float score = 0;
    int number = 0;
  };
  /// Entries need no order. Throws kFormat if two have the same text, or one is empty.
  explicit SubwordLattice(std::vector<Entry> entries);

  struct Cut {
    size_t begin = 0, end = 0;  ///< bytes of the text
    int number = 0;
  };
  /// Draws a cut with probability proportional to the product of p(piece)^alpha; empty if no sequence of
  /// entries spells `text`. Takes O(bytes x longest entry) time.
  std::vector<Cut> draw(std::string_view text, double alpha, Random& random) const;

 private:
  struct Edge {
    size_t begin = 0;
    double weight = 0;  // log of the sum over all cuts of the text up to the edge's end that end with it
    int number = 0;
  };

  std::vector<Entry> entries_;  // sorted by text
};

}  // namespace heed
