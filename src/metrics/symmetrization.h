// Symmetrization of the word alignments of two directions (Koehn et al., "Statistical phrase-based
// translation", 2003).
#pragma once

#include <string>
#include <vector>

#include "metrics/alignment_score.h"

namespace heed {

enum class Symmetrization {
  kIntersection,     ///< links in both: high precision
  kUnion,            ///< links in either: high recall
  kGrowDiag,         ///< the intersection, extended by adjacent links of the union for unaligned words
  kGrowDiagFinalAnd  ///< then also links of either direction between two unaligned words
};

/// "intersection", "union", "grow-diag", "grow-diag-final-and"; throws kUsage for another word.
Symmetrization parse_symmetrization(const std::string& name);

/// Both inputs and the result are (source, target) links, sorted, without duplicates.
std::vector<WordLink> symmetrize(std::vector<WordLink> forward, std::vector<WordLink> backward,
                                 Symmetrization method);

}  // namespace heed
