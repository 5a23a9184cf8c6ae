#include "data/batch/packed_batch.h"

#include "base/check.h"

namespace heed {
namespace {

/// Appends the decoder input for the labels from position `begin` on.
void shift_right(TranslationBatch& batch, size_t begin, int32_t start_token) {
  std::vector<int32_t>& input = batch.decoder_input.ids;
  HEED_CHECK(batch.labels.size() > begin && input.size() == begin);
  input.push_back(start_token);
  input.insert(input.end(), batch.labels.begin() + static_cast<std::ptrdiff_t>(begin),
               batch.labels.end() - 1);
  batch.decoder_input.close();
}

}  // namespace

TranslationBatch pack_translation(const Corpus& corpus, std::span<const uint64_t> sentences,
                                  int32_t start_token) {
  HEED_CHECK(corpus.info().streams == 2);
  TranslationBatch batch;
  for (const uint64_t sentence : sentences) {
    corpus.append(0, sentence, batch.source.ids);
    batch.source.close();
    const size_t begin = batch.labels.size();
    corpus.append(1, sentence, batch.labels);
    shift_right(batch, begin, start_token);
  }
  return batch;
}

TranslationBatch pack_translation(std::span<const std::vector<int32_t>> source,
                                  std::span<const std::vector<int32_t>> target, int32_t start_token) {
  HEED_CHECK(source.size() == target.size());
  TranslationBatch batch;
  for (size_t n = 0; n < source.size(); ++n) {
    batch.source.append(source[n]);
    const size_t begin = batch.labels.size();
    batch.labels.insert(batch.labels.end(), target[n].begin(), target[n].end());
    shift_right(batch, begin, start_token);
  }
  return batch;
}

}  // namespace heed
