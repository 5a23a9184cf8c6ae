// One word alignment from those of two directions (Koehn et al., "Statistical phrase-based translation",
// 2003).
#pragma once

#include <string>
#include <vector>

#include "text/alignment_score.h"

namespace heed {

enum class Symmetrization {
  kIntersection,     ///< links that both have: few and reliable
  kUnion,            ///< links that either has
  kGrowDiag,         ///< from the intersection to links of the union beside it, for words without one
  kGrowDiagFinalAnd  ///< and then links of either direction between two words without one
};

/// "intersection", "union", "grow-diag", "grow-diag-final-and"; throws kUsage for another word.
Symmetrization parse_symmetrization(const std::string& name);

/// Links of the first direction and of the other, both as (source, target): sorted, each once.
std::vector<WordLink> symmetrize(std::vector<WordLink> forward, std::vector<WordLink> backward,
                                 Symmetrization method);

}  // namespace heed
