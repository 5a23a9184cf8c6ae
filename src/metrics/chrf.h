// chrF and chrF++ (Popovic, "chrF: character n-gram F-score for automatic MT evaluation", 2015; "chrF++:
// words helping character n-grams", 2017), equal to sacreBLEU 2.6:
//
//   chrF = 100 * (1 + beta^2) * P * R / (beta^2 * P + R)
// with P and R the n-gram precision and recall, averaged over the orders that occur in both hypothesis and
// reference.
#pragma once

#include <string>
#include <vector>

namespace heed {

struct ChrfOptions {
  int char_order = 6;          ///< maximum character n-gram order
  int word_order = 0;          ///< maximum word n-gram order; 2 for chrF++
  int beta = 2;                ///< recall counts beta times as much as precision
  bool lowercase = false;      ///< lower-case hypotheses and references first
  bool whitespace = false;     ///< count white space as characters
  bool eps_smoothing = false;  ///< average the F-scores of all orders, as chrF++.py, NLTK and Moses do
};

struct ChrfScore {
  double score = 0;  ///< 0 to 100
  std::string name;  ///< "chrF2", "chrF2++"
};

/// The corpus score, with the best-scoring reference of each line; `references[r][n]` is the r-th reference
/// of `hypotheses[n]`. Throws kUsage if the numbers of lines differ or are 0, kText for invalid UTF-8.
ChrfScore corpus_chrf(const std::vector<std::string>& hypotheses,
                      const std::vector<std::vector<std::string>>& references,
                      const ChrfOptions& options = {});

/// sacreBLEU's signature: "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0".
std::string chrf_signature(size_t references, const ChrfOptions& options = {});

}  // namespace heed
