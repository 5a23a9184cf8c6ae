// Batches of encoded texts for an encoder.
#pragma once

#include <cstdint>
#include <vector>

#include "models/encoder.h"
#include "search/length_batches.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed::search {

/// Tokens of a batch at most, unless a single text has more. So few that caches hold what one operation
/// leaves to the next, and so many that weights are read from memory rarely: 384 to 768 tokens take about as
/// long, 2,048 up to 30% longer (docs/performance.md).
constexpr int64_t kEncoderBatchTokens = 512;

/// The indices of the texts of each batch, of at most `batch_tokens` tokens unless a single text has more.
inline std::vector<std::vector<size_t>> encoder_batches(const std::vector<Encoding>& encodings,
                                                        int64_t batch_tokens) {
  std::vector<int64_t> lengths;
  for (const Encoding& each : encodings) lengths.push_back(static_cast<int64_t>(each.ids.size()));
  return length_batches(lengths, batch_tokens);
}

/// The texts of one batch, packed.
inline models::EncoderInput encoder_input(const std::vector<Encoding>& encodings,
                                          const std::vector<size_t>& batch) {
  models::EncoderInput input;
  for (const size_t n : batch) {
    input.text.append(encodings[n].ids);
    input.types.insert(input.types.end(), encodings[n].types.begin(), encodings[n].types.end());
  }
  return input;
}

}  // namespace heed::search
