#include "train/tasks/head_choice.h"

#include <algorithm>

#include "base/check.h"
#include "data/align/hmm_aligner.h"
#include "metrics/symmetrization.h"
#include "models/source_vocabulary.h"

namespace heed::train {
namespace {

constexpr int kCompared = 500;

/// Evenly spaced.
std::vector<translate::LinkedPair> linked_sample(const TokenPairs& pairs, const TwoWayAligner& aligner) {
  std::vector<translate::LinkedPair> sample;
  const int count = pairs.sources.count(), step = (count + kCompared - 1) / kCompared;
  for (int n = 0; n < count; n += step) {
    const auto source = pairs.sources[n], target = pairs.targets[n];
    const TwoWayAligner::Links links = aligner.align(source, target);
    sample.push_back({{source.begin(), source.end()},
                      {target.begin(), target.end()},
                      {symmetrize(links.forward, links.backward, Symmetrization::kIntersection),
                       symmetrize(links.forward, links.backward, Symmetrization::kGrowDiagFinalAnd)}});
  }
  return sample;
}

}  // namespace

translate::HeadChoice choose_heads(const models::Seq2Seq& model, const nn::Context& context,
                                   const TokenPairs& pairs, ThreadPool& pool, const Stop& stop) {
  HEED_CHECK(pairs.sources.count() > 0);
  HmmAlignerOptions options;
  options.stop = stop;
  const TwoWayAligner aligner(pairs.sources, pairs.targets,
                              std::max(model.vocabulary_size(), models::source_vocabulary_size(model)), pool,
                              options);
  return translate::choose_alignment_heads(model, context, linked_sample(pairs, aligner), pool);
}

}  // namespace heed::train
