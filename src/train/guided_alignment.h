// Guided alignment: during training, one head of the decoder's attention to the source learns to look where a
// statistical word aligner links the token that the decoder reads (ops/attention_loss.h).
//
// The links are made once, when the corpus is prepared: data/hmm_aligner.h in both directions, combined by
// grow-diag-final-and. They stand beside the corpus as a corpus of their own: of each sentence pair, the
// source's length and the source tokens of its links in stream 0, the target's length and their target tokens
// in stream 1.
#pragma once

#include <memory>
#include <vector>

#include "data/corpus.h"
#include "data/packed_batch.h"
#include "models/alignment_heads.h"
#include "models/model.h"
#include "nn/differentiable_sink.h"
#include "ops/attention_loss.h"
#include "train/task.h"

namespace heed::train {

/// The links of all pairs of the training corpus, made at `path` or found there from an earlier run. Throws
/// as prepared_corpus().
Corpus prepare_links(const TaskInput& task, const Corpus& corpus, const std::string& path);

/// The head that the recipe chooses, of a model that has it. Throws kUsage for one without such a head.
models::AlignmentHead guided_head(const Recipe& recipe, const models::Model& model);

/// The links of these sentences, each target token's as an equal share of the query that reads it.
std::vector<ops::AttentionLink> guided_links(const Corpus& links, std::span<const uint64_t> sentences,
                                             const TranslationBatch& batch);

/// Listens to one head, and has its loss after the forward pass.
class GuidedHead : public nn::DifferentiableSink {
 public:
  GuidedHead(models::AlignmentHead head, std::vector<ops::AttentionLink> links, double scale)
      : head_(head), links_(std::move(links)), scale_(scale) {}
  bool wants(const nn::AttentionPlace& place) const override {
    return place.stack == nn::AttentionStack::kCross && place.layer == head_.layer;
  }
  void receive_variable(const Var& weights, const ops::AttentionLayout& layout, int heads) override {
    loss_ = ops::attention_cross_entropy(weights, layout, heads, head_.head, links_, scale_);
  }
  const Var& loss() const { return loss_; }

 private:
  models::AlignmentHead head_;
  std::vector<ops::AttentionLink> links_;
  double scale_;
  Var loss_;
};

}  // namespace heed::train
