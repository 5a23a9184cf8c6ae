// Scores given translations by forced decoding.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "models/language_model.h"
#include "models/seq2seq.h"
#include "search/rules/search_options.h"

namespace heed::search {

/// Source and target ids with end tokens.
struct ScoringPair {
  std::vector<int32_t> source, target;
  std::vector<int32_t> forbidden = {};  ///< as that of a SearchSentence
};

/// Log-sum-exp of each row of logits (N, V). Throws kNumeric for NaN or infinity.
std::vector<float> log_sums_of(const Tensor& logits);

/// What normalizes probabilities p at other temperatures: for each T, ln of the sum of p^(1/T) over a row of
/// logits (V), whose log-sum-exp is `log_sum`. At T a token has the log-probability ln p / T less this.
std::vector<float> log_sums_at(std::span<const double> temperatures, std::span<const float> logits,
                               float log_sum);

/// The ids of the `count` largest logits, or of all above -infinity if there are fewer; the largest first,
/// the lower id of equal ones.
std::vector<int32_t> likeliest_ids(std::span<const float> logits, size_t count);

/// What a language model predicts in place of an id of a text.
struct Prediction {
  size_t index = 0;               ///< of the id
  std::span<const float> logits;  ///< (V)
  float log_sum = 0;              ///< their log-sum-exp
};

struct PredictionOptions {
  size_t first = 1;           ///< index of the first id to visit, at least 1
  int64_t at_once = 1 << 22;  ///< maximum number of logits to compute at a time; at least a row
};

/// Calls `visit` for each of `ids` from options.first on. The model reads all ids but the last in one pass;
/// logits are computed only for the rows that are visited, a few at a time, so that long texts take little
/// memory. Throws Cancelled in a scope of StopScope, and kNumeric if the model returns NaN or infinity.
void visit_predictions(const models::LanguageModel& model, const nn::Context& context,
                       std::span<const int32_t> ids, const PredictionOptions& options,
                       const std::function<void(const Prediction&)>& visit);

/// The log-probability of every target id given the previous ones (teacher forcing), as a search with these
/// options would score them: the rules (logit_rules.h) apply, forced ids cost nothing, and a shortlist
/// restricts the normalization. In int8, whose search has a cache of 16 bits, within some hundredths. For a
/// target id that the rules forbid, the probability is computed as if it were also allowed. All pairs are one
/// batch; keep it to some hundred target ids, since each has V logits. Throws kUsage for an empty pair or one
/// longer than the model's maximum, kNumeric if the model returns NaN or infinity.
std::vector<std::vector<float>> score_pairs(const models::Seq2Seq& model, const nn::Context& context,
                                            const SearchOptions& options, std::span<const ScoringPair> pairs);

}  // namespace heed::search
