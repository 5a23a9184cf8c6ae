// The importance of attention heads of a translation model: the loss on a test set when each is switched off
// (Voita et al., "Analyzing multi-head self-attention", 2019; Michel et al., "Are sixteen heads really better
// than one?", 2019).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/thread_pool.h"
#include "cli/evaluation/evaluation.h"
#include "cli/files/model_lookup.h"
#include "inspect/draw/picture.h"
#include "nn/head_scales.h"

namespace heed::cli {

/// The quality of a model on a test set.
struct SetScore {
  double log_probability = 0;  ///< of the references, per token with the end token, in nats
  std::optional<double> bleu = {};
};

struct HeadScore {
  nn::HeadScale head;  ///< which is switched off
  SetScore score;
};

struct HeadImportance {
  SetScore whole;                ///< with all heads
  std::vector<HeadScore> heads;  ///< encoder, cross, decoder; by layer and head
  size_t tokens = 0;             ///< of the references
};

struct HeadImportanceOptions {
  translate::TranslatorOptions translator = {};
  bool bleu = true;                                            ///< translate the set with each head off
  std::function<void(size_t done, size_t all)> progress = {};  ///< called after each head
};

/// Throws Cancelled when interrupted, and kUsage for a model without heads that can be switched off, and for
/// a sentence that is longer than the model's maximum.
HeadImportance head_importance(const TranslationModel& model, const TestSet& set, ThreadPool& pool,
                               const HeadImportanceOptions& options);

/// A map for each stack, layers by heads: the change of the log-probability per token in thousandths of a
/// nat, and below it that of BLEU if it was measured.
Picture head_importance_picture(const HeadImportance& importance);

}  // namespace heed::cli
