#include "decode/scoring.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/top_k.h"

namespace heed::decode {
namespace {

void require_readable(const models::Seq2Seq& model, const std::vector<int32_t>& ids, const char* which) {
  if (ids.empty()) fail(ErrorKind::kUsage, "a {} without tokens cannot be scored", which);
  if (model.longest() > 0 && static_cast<int64_t>(ids.size()) > model.longest()) {
    fail(ErrorKind::kUsage, "a {} of {} tokens cannot be scored: the model has positions for {}; split it",
         which, ids.size(), model.longest());
  }
  for (const int32_t id : ids) {
    if (id < 0 || id >= model.vocabulary_size()) {
      fail(ErrorKind::kUsage, "a {} holds the id {}, outside the vocabulary of {}", which, id,
           model.vocabulary_size());
    }
  }
}

void forbid(const models::Seq2Seq& model, const SearchOptions& options, Tensor& logits) {
  std::vector<int32_t> forbidden = options.forbidden_ids;
  forbidden.push_back(model.padding_id());
  for (int64_t row = 0; row < logits.dim(0); ++row) {
    for (const int32_t id : forbidden) {
      logits.data<float>()[row * logits.dim(1) + id] = -std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace

std::vector<float> log_sums_of(const Tensor& logits) {
  std::vector<float> sums(static_cast<size_t>(logits.dim(0)));
  TopKArguments<float> arguments;
  arguments.rows = logits.dim(0);
  arguments.classes = logits.dim(1);
  arguments.logits = logits.data<float>();
  arguments.log_sums = sums.data();
  top_k(arguments);
  for (const float sum : sums) {
    if (!std::isfinite(sum)) {
      fail(ErrorKind::kNumeric,
           "the model's output is not a number: its weights are damaged or out of range");
    }
  }
  return sums;
}

std::vector<std::vector<float>> score_pairs(const models::Seq2Seq& model, const nn::Context& context,
                                            const SearchOptions& options,
                                            std::span<const ScoringPair> pairs) {
  models::Sequences sources, inputs;
  for (const ScoringPair& pair : pairs) {
    require_readable(model, pair.source, "source");
    require_readable(model, pair.target, "target");
    sources.append(pair.source);
    std::vector<int32_t> input{model.start_id()};
    input.insert(input.end(), pair.target.begin(), pair.target.end() - 1);
    inputs.append(input);
  }
  nn::Context own = context;
  Tensor logits = model.logits(own, sources, inputs);  // (Nt, V)
  std::vector<float> log_sums;
  if (!options.renormalize) log_sums = log_sums_of(logits);
  forbid(model, options, logits);
  if (options.renormalize) log_sums = log_sums_of(logits);

  std::vector<std::vector<float>> scores;
  int64_t row = 0;
  for (const ScoringPair& pair : pairs) {
    scores.emplace_back();
    for (const int32_t id : pair.target) {
      scores.back().push_back(logits.data<float>()[row * logits.dim(1) + id] - log_sums[row]);
      ++row;
    }
  }
  return scores;
}

}  // namespace heed::decode
