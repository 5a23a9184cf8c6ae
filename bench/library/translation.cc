// Translation without the tokenizer: search::Search over ids.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "library/open_model.h"
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
  int64_t tokens;   ///< that every translation has
  int32_t* output;  ///< (sentences, tokens)
};

/// Opens a model directory; heed::bench::open_model().
void* heed_bench_translation_open(const char* directory, const char* precision) {
  return heed::bench::open_model(directory, precision);
}

void heed_bench_translation_run(void* opened, const HeedBenchTranslation* wanted) {
  const auto& model = *static_cast<const heed::models::LoadedModel*>(opened);
  heed::search::SearchOptions options = heed::search::search_options_of(model);
  options.beam_size = static_cast<int>(wanted->beam);
  options.min_length = wanted->tokens + 1;  // the start token counts
  options.max_new = wanted->tokens + 1;     // and the end token, which costs nothing there
  options.max_length = 0;
  options.max_length_factor = 0;
  std::vector<heed::search::SearchSentence> sentences;
  for (int64_t n = 0; n < wanted->sentences; ++n) {
    sentences.push_back(
        {static_cast<uint64_t>(n), {wanted->ids + wanted->offsets[n], wanted->ids + wanted->offsets[n + 1]}});
  }
  const heed::search::Search search(model.seq2seq(), model.context(), options,
                                    {.rows = static_cast<size_t>(wanted->batch * wanted->beam)});
  const auto found = search.run(std::move(sentences));
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
