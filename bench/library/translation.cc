// Translation without the tokenizer: search::Search over ids.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "models/directory/loaded_model.h"
#include "search/search.h"

extern "C" {

/// What rows/translation.py fills in.
struct HeedBenchTranslation {
  const int32_t* ids;      ///< of all sentences, end tokens included
  const int64_t* offsets;  ///< (sentences + 1)
  int64_t sentences;
  int64_t beam;
  int64_t batch;    ///< sentences searched at once
  int64_t tokens;   ///< that every translation is held at; 0: as long as the model finds right
  int32_t* output;  ///< (sentences, tokens), or null
};

/// Opens a model directory; `int8` as `--precision int8`. Null, and a word on standard error, where it
/// cannot.
void* heed_bench_translation_open(const char* directory, int64_t int8) {
  try {
    const auto precision = int8 != 0 ? heed::models::Precision::kInt8 : heed::models::Precision::kFloat32;
    return new heed::models::LoadedModel(heed::models::load_model(directory, {.precision = precision}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return nullptr;
  }
}

void heed_bench_translation_run(void* opened, const HeedBenchTranslation* wanted) {
  const auto& model = *static_cast<const heed::models::LoadedModel*>(opened);
  heed::search::SearchOptions options = heed::search::search_options_of(model);
  options.beam_size = static_cast<int>(wanted->beam);
  if (wanted->tokens > 0) {
    options.min_length = wanted->tokens + 1;  // the start token counts
    options.max_new = wanted->tokens + 1;     // and the end token, which costs nothing there
    options.max_length = 0;
    options.max_length_factor = 0;
  }
  std::vector<heed::search::SearchSentence> sentences;
  for (int64_t n = 0; n < wanted->sentences; ++n) {
    sentences.push_back(
        {static_cast<uint64_t>(n), {wanted->ids + wanted->offsets[n], wanted->ids + wanted->offsets[n + 1]}});
  }
  const heed::search::Search search(model.seq2seq(), model.context(), options,
                                    {.rows = static_cast<size_t>(wanted->batch * wanted->beam)});
  const auto found = search.run(std::move(sentences));
  if (wanted->output == nullptr) return;
  for (size_t n = 0; n < found.size(); ++n) {
    const std::vector<int32_t>& ids = found[n].front().ids;
    std::copy_n(ids.begin(), std::min<size_t>(ids.size(), static_cast<size_t>(wanted->tokens)),
                wanted->output + n * static_cast<size_t>(wanted->tokens));
  }
}

void heed_bench_translation_close(void* opened) {
  delete static_cast<heed::models::LoadedModel*>(opened);
}

}  // extern "C"
