// Packs the sentences of a batch into model inputs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sequences.h"
#include "data/corpus/corpus.h"

namespace heed {

/// A batch for teacher forcing: at position t the decoder reads decoder_input.ids[t] and predicts labels[t].
struct TranslationBatch {
  Sequences source;             ///< as stored, with its end token
  Sequences decoder_input;      ///< the start token, then the target without its last token
  std::vector<int32_t> labels;  ///< the target as stored, with its end token; offsets as in decoder_input
};

/// Packs sentence pairs of a corpus, in this order. Throws kFormat for a damaged corpus.
TranslationBatch pack_translation(const Corpus& corpus, std::span<const uint64_t> sentences,
                                  int32_t start_token);

/// Packs sentence pairs in memory; both sides have the same number of sequences, and no target is empty.
TranslationBatch pack_translation(std::span<const std::vector<int32_t>> source,
                                  std::span<const std::vector<int32_t>> target, int32_t start_token);

}  // namespace heed
