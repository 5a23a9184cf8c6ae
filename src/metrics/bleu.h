// BLEU (Papineni et al., "BLEU: a method for automatic evaluation of machine translation", 2002), equal to
// sacreBLEU 2.6:
//
//   BLEU = 100 * BP * exp(1/N * sum_n log p_n),   BP = min(1, exp(1 - r/c))
//
// with p_n the clipped precision of n-grams, c the length of the hypotheses, and r the length of the closest
// references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/mt_tokenizers.h"

namespace heed {

/// Smoothing of zero precisions (Chen and Cherry, "A systematic comparison of smoothing techniques for
/// sentence-level BLEU", 2014).
enum class BleuSmoothing {
  kExp,    ///< "exp": the k-th such precision counts 1 / 2^k matches (method 3, NIST's)
  kFloor,  ///< "floor": counts `smoothing_value` matches (method 1)
  kAddK,   ///< "add-k": `smoothing_value` is added to matches and totals of all orders above 1 (method 2)
  kNone,   ///< "none": a missing order makes the score 0
};

/// sacreBLEU's name of a method.
std::string_view bleu_smoothing_name(BleuSmoothing smoothing);

struct BleuOptions {
  BleuTokenizer tokenizer = BleuTokenizer::k13a;  ///< splits hypotheses and references alike
  bool lowercase = false;                         ///< lower-case both first
  BleuSmoothing smoothing = BleuSmoothing::kExp;  ///< of zero precisions
  std::optional<double> smoothing_value = {};     ///< for floor (default 0.1) and add-k (default 1)
  bool effective_order =
      false;          ///< leave out orders longer than the hypothesis; for scores of single sentences
  int max_order = 4;  ///< N, the longest n-gram
  std::optional<TextPipeline> pieces = {};  ///< load_bleu_pieces(), for flores101 and flores200
};

struct BleuScore {
  double score = 0;                ///< 0 to 100
  std::vector<double> precisions;  ///< of each order, 0 to 100, smoothed
  std::vector<double> counts;      ///< n-grams found in a reference (with k, if add-k)
  std::vector<double> totals;      ///< n-grams of the hypotheses (with k, if add-k)
  double brevity_penalty = 1;
  int64_t hypothesis_length = 0, reference_length = 0;  ///< in tokens
};

/// One score over all lines; `references[r][n]` is the r-th reference of `hypotheses[n]`.
/// Throws kUsage if the numbers of lines differ or are 0, kText for invalid UTF-8.
BleuScore corpus_bleu(const std::vector<std::string>& hypotheses,
                      const std::vector<std::vector<std::string>>& references,
                      const BleuOptions& options = {});

/// sacreBLEU's signature: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0".
std::string bleu_signature(size_t references, const BleuOptions& options = {});

}  // namespace heed
