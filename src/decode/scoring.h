// How likely a model finds given translations.
#pragma once

#include <span>
#include <vector>

#include "decode/search_options.h"
#include "models/seq2seq.h"

namespace heed::decode {

/// A sentence and a translation of it: ids, both with their end tokens.
struct ScoringPair {
  std::vector<int32_t> source, target;
};

/// log(sum of exponentials) of each row of logits (N, V). Throws kNumeric where they are no numbers.
std::vector<float> log_sums_of(const Tensor& logits);

/// For each pair the log-probability of every id of the target, given the true ids before it (teacher
/// forcing). They are those that a search with these options adds up for the same ids: its rules
/// (logit_rules.h) change the probabilities here as they do there, an id that they force costs nothing, and a
/// shortlist that it uses leaves the other words no share. An id of the target that the rules forbid, which a
/// search never writes, gets the probability that it has where it alone is allowed besides. All pairs are one
/// batch; keep it to some hundred target ids, for there are V logits for each. Throws kUsage for a pair
/// without ids or longer than the model's positions, kNumeric where the model gives NaN or infinity.
std::vector<std::vector<float>> score_pairs(const models::Seq2Seq& model, const nn::Context& context,
                                            const SearchOptions& options, std::span<const ScoringPair> pairs);

}  // namespace heed::decode
