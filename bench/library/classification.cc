// The forward pass of a classifier, from ids to the logits of its classes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "models/directory/loaded_model.h"

extern "C" {

/// Opens a model directory in float32. Null, and a word on standard error, where it cannot.
void* heed_bench_classifier_open(const char* directory) {
  try {
    auto* loaded = new heed::models::LoadedModel(heed::models::load_model(directory));
    loaded->classifier();
    return loaded;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return nullptr;
  }
}

/// Texts n are ids[offsets[n]] .. ids[offsets[n + 1]], special tokens included; logits is (texts, classes).
void heed_bench_classifier_run(void* opened, const int32_t* ids, const int64_t* offsets, int64_t texts,
                               float* logits) {
  const auto& loaded = *static_cast<const heed::models::LoadedModel*>(opened);
  heed::models::EncoderInput input;
  for (int64_t n = 0; n < texts; ++n) {
    input.text.append({ids + offsets[n], static_cast<size_t>(offsets[n + 1] - offsets[n])});
  }
  heed::nn::Context context = loaded.context();
  const heed::Tensor found = loaded.classifier().logits(context, input);
  std::copy_n(found.data<float>(), found.size(), logits);
}

void heed_bench_classifier_close(void* opened) {
  delete static_cast<heed::models::LoadedModel*>(opened);
}

}  // extern "C"
