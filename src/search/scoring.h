// Scores given translations by forced decoding.
#pragma once

#include <span>
#include <vector>

#include "models/seq2seq.h"
#include "search/rules/search_options.h"

namespace heed::search {

/// Source and target ids with end tokens.
struct ScoringPair {
  std::vector<int32_t> source, target;
};

/// Log-sum-exp of each row of logits (N, V). Throws kNumeric for NaN or infinity.
std::vector<float> log_sums_of(const Tensor& logits);

/// The ids of the `count` largest logits, or of all above -infinity if there are fewer; the largest first,
/// the lower id of equal ones.
std::vector<int32_t> likeliest_ids(std::span<const float> logits, size_t count);

/// The log-probability of every target id given the previous ones (teacher forcing), exactly as a search with
/// these options would score them: the rules (logit_rules.h) apply, forced ids cost nothing, and a shortlist
/// restricts the normalization. For a target id that the rules forbid, the probability is computed as if it
/// were also allowed. All pairs are one batch; keep it to some hundred target ids, since each has V logits.
/// Throws kUsage for an empty pair or one longer than the model's maximum, kNumeric if the model returns NaN
/// or infinity.
std::vector<std::vector<float>> score_pairs(const models::Seq2Seq& model, const nn::Context& context,
                                            const SearchOptions& options, std::span<const ScoringPair> pairs);

}  // namespace heed::search
