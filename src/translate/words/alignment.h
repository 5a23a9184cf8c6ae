// Soft alignments from cross-attention.
//
// Cross-attention weights are used as a soft alignment (Bahdanau et al., 2015). In a Transformer, some heads
// align much better than others, and they do so at the step whose input is the target token, not at the step
// that predicts it (Chen et al., "Accurate word alignment induction from neural machine translation", 2020).
// `alignment_heads` of generation_config.json lists these heads. Without it, the alignment is the mean over
// the heads of a layer at the step that predicts the token.
//
// The weights come from a separate forward pass over the finished translation.
#pragma once

#include <vector>

#include "models/alignment_heads.h"
#include "models/seq2seq.h"

namespace heed::translate {

struct AlignmentOptions {
  std::vector<models::AlignmentHead> heads = {};  ///< at the step that reads a token; empty: see `layer`
  int layer = -1;  ///< without heads: decoder layer from 0; negative: counted from the last
};

/// (target tokens, source tokens): row t is the alignment of target token t and sums to 1.
struct SoftAlignment {
  int64_t targets = 0, sources = 0;
  std::vector<float> weights;
  float at(int64_t target, int64_t source) const { return weights[target * sources + source]; }
};

/// The soft alignment of a source and a translation, both with end tokens. Throws kUsage for a layer or head
/// that the model does not have, or if it has no cross-attention.
SoftAlignment soft_alignment(const models::Seq2Seq& model, const nn::Context& context,
                             const std::vector<int32_t>& source, const std::vector<int32_t>& target,
                             const AlignmentOptions& options = {});

struct HeadAlignment {
  models::AlignmentHead head;
  SoftAlignment soft;
};

/// The soft alignments of all heads at the step that reads a token, in one forward pass.
std::vector<HeadAlignment> every_head(const models::Seq2Seq& model, const nn::Context& context,
                                      const std::vector<int32_t>& source, const std::vector<int32_t>& target);

/// The mean of at least one soft alignment of the same pair.
SoftAlignment mean_alignment(const std::vector<const SoftAlignment*>& alignments);

}  // namespace heed::translate
