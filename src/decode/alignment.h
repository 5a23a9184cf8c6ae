// Where a model looks in the source while it reads or writes each token of a translation.
//
// The decoder's attention to the memory is read as a soft alignment (Bahdanau et al., 2015). In a Transformer
// some heads align far better than others, and they do so at the step whose input is the token, not at the
// step before it, which predicts the token (Chen et al., "Accurate word alignment induction from neural
// machine translation", 2020). Which heads, the model directory says: `alignment_heads` of
// generation_config.json. For models without such a list it is the mean over the heads of a layer at the step
// that predicts the token.
//
// It is taken from a pass over the finished translation, so that the search itself has nothing to do with it.
#pragma once

#include <vector>

#include "models/alignment_heads.h"
#include "models/seq2seq.h"

namespace heed::decode {

struct AlignmentOptions {
  std::vector<models::AlignmentHead> heads = {};  ///< at the step that reads a token; empty: see `layer`
  int layer = -1;  ///< without heads: of the decoder, from 0; negative ones count from the last
};

/// (target tokens, source tokens): row t is where the model looks for target token t, and sums to 1.
struct SoftAlignment {
  int64_t targets = 0, sources = 0;
  std::vector<float> weights;
  float at(int64_t target, int64_t source) const { return weights[target * sources + source]; }
};

/// Of a source and a translation, both with their end tokens. Throws kUsage for a layer or head that the
/// model does not have, and where it has no such attention at all.
SoftAlignment soft_alignment(const models::Seq2Seq& model, const nn::Context& context,
                             const std::vector<int32_t>& source, const std::vector<int32_t>& target,
                             const AlignmentOptions& options = {});

struct HeadAlignment {
  models::AlignmentHead head;
  SoftAlignment soft;
};

/// The same of every head by itself, at the step that reads a token, in one pass.
std::vector<HeadAlignment> every_head(const models::Seq2Seq& model, const nn::Context& context,
                                      const std::vector<int32_t>& source, const std::vector<int32_t>& target);

/// The mean of some: of one pair, at least one.
SoftAlignment mean_alignment(const std::vector<const SoftAlignment*>& alignments);

}  // namespace heed::decode
