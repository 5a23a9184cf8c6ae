// The forward pass of a classifier, from ids to the logits of its classes.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "library/open_model.h"
#include "models/directory/loaded_model.h"
#include "search/encoder_batches.h"

extern "C" {

/// Opens a model directory; heed::bench::open_model().
void* heed_bench_classifier_open(const char* directory, const char* precision) {
  return heed::bench::open_model(directory, precision);
}

/// Texts n are ids[offsets[n]] .. ids[offsets[n + 1]], special tokens included; logits is (texts, classes).
/// In batches, as `heed classify` does.
void heed_bench_classifier_run(void* opened, const int32_t* ids, const int64_t* offsets, int64_t texts,
                               float* logits) {
  const auto& loaded = *static_cast<const heed::models::LoadedModel*>(opened);
  std::vector<int64_t> lengths;
  for (int64_t n = 0; n < texts; ++n) lengths.push_back(offsets[n + 1] - offsets[n]);
  for (const auto& batch : heed::search::length_batches(lengths, heed::search::kEncoderBatchTokens)) {
    heed::models::EncoderInput input;
    for (const size_t n : batch) input.text.append({ids + offsets[n], static_cast<size_t>(lengths[n])});
    heed::nn::Context context = loaded.context();
    const heed::Tensor found = loaded.classifier().logits(context, input);  // (texts of the batch, classes)
    const int64_t classes = found.dim(1);
    for (size_t row = 0; row < batch.size(); ++row) {
      std::copy_n(found.data<float>() + static_cast<int64_t>(row) * classes, classes,
                  logits + static_cast<int64_t>(batch[row]) * classes);
    }
  }
}

void heed_bench_classifier_close(void* opened) {
  delete static_cast<heed::models::LoadedModel*>(opened);
}

}  // extern "C"
