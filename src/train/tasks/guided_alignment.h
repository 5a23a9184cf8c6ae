// Guided alignment: trains one cross-attention head of the decoder to reproduce the links of a statistical
// word aligner for the decoder's input token (ops/attention/attention_loss.h). The links are computed once,
// when the corpus is prepared: by data/align/hmm_aligner.h in both directions, combined with
// grow-diag-final-and. They are stored as a corpus: for each sentence pair, stream 0 has the source length
// and the source tokens of its links, stream 1 the target length and their target tokens.
#pragma once

#include <vector>

#include "data/batch/packed_batch.h"
#include "data/corpus/corpus.h"
#include "models/alignment_heads.h"
#include "models/model.h"
#include "nn/attention_sink.h"
#include "ops/attention/attention_loss.h"
#include "train/tasks/task.h"

namespace heed::train {

/// The links of all pairs of the training corpus, created at `path` or reused from an earlier run. Throws
/// like prepared_corpus().
Corpus prepare_links(const TaskInput& task, const Corpus& corpus, const std::string& path);

/// The head that the recipe selects. Throws kUsage for a model without it.
models::AlignmentHead guided_head(const Recipe& recipe, const models::Model& model);

/// The links of these sentences, weighted equally over the source tokens of each query.
std::vector<ops::AttentionLink> guided_links(const Corpus& links, std::span<const uint64_t> sentences,
                                             const TranslationBatch& batch);

/// Records the attention of one head and computes its loss in the forward pass.
class GuidedHead : public nn::AttentionSink {
 public:
  GuidedHead(models::AlignmentHead head, std::vector<ops::AttentionLink> links, double scale)
      : head_(head), links_(std::move(links)), scale_(scale) {}
  bool wants(const nn::AttentionLayerId& id) const override {
    return id.stack == Stack::kCross && id.layer == head_.layer;
  }
  void receive(const nn::AttentionLayerId& /*id*/, const Var& weights, const ops::AttentionLayout& layout,
               int heads) override {
    loss_ = ops::attention_cross_entropy(weights, layout, {head_.head, heads}, links_, scale_);
  }
  const Var& loss() const { return loss_; }

 private:
  models::AlignmentHead head_;
  std::vector<ops::AttentionLink> links_;
  double scale_;
  Var loss_;
};

}  // namespace heed::train
