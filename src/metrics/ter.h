// TER, translation edit rate (Snover et al., "A study of translation edit rate with targeted human
// annotation", 2006), equal to sacreBLEU 2.6:
//
//   TER = 100 * edits / words of the reference
// An edit inserts, deletes or substitutes one word, or shifts a run of words. Lower is better. Finding the
// optimal shifts is NP-hard; like Tercom, the authors' program, this greedily applies the best shift until
// none helps.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct TerOptions {
  bool case_sensitive = false;  ///< otherwise lower-cases both sides first
};

struct TerScore {
  double score = 0;             ///< 0 for equal texts; can exceed 100
  double edits = 0;             ///< sum over lines of the edits to the closest reference
  double reference_length = 0;  ///< in words; the mean over several references
};

/// The corpus score; `references[r][n]` is the r-th reference of `hypotheses[n]`. Words are separated by
/// white space. Throws kUsage if the numbers of lines differ or are 0, kText for invalid UTF-8.
TerScore corpus_ter(const std::vector<std::string>& hypotheses,
                    const std::vector<std::vector<std::string>>& references, const TerOptions& options = {});

/// sacreBLEU's signature: "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0".
std::string ter_signature(size_t references, const TerOptions& options = {});

}  // namespace heed
