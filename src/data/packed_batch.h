// From the sentences of a batch to arrays that a model computes on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sequences.h"
#include "data/corpus.h"

namespace heed {

/// A batch for teacher forcing. At position t the decoder reads decoder_input.ids[t] and is to say labels[t].
struct TranslationBatch {
  Sequences source;             ///< as stored, with its end token
  Sequences decoder_input;      ///< the start token, then the target without its last token
  std::vector<int32_t> labels;  ///< the target as stored, with its end token; offsets as in decoder_input
};

/// Packs the given sentences of a corpus of source and target, in this order. Throws kFormat if the corpus is
/// damaged.
TranslationBatch pack_translation(const Corpus& corpus, std::span<const uint64_t> sentences,
                                  int32_t start_token);

/// Packs pairs that are in memory; source and target have as many sequences, and no target is empty.
TranslationBatch pack_translation(std::span<const std::vector<int32_t>> source,
                                  std::span<const std::vector<int32_t>> target, int32_t start_token);

}  // namespace heed
