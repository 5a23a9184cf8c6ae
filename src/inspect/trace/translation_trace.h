// The attention of a translation: a forward pass with the whole translation as input (teacher forcing), which
// computes the same weights as search.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "inspect/trace/trace.h"
#include "models/directory/loaded_model.h"
#include "search/rules/constraints.h"
#include "search/rules/search_options.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed {

/// A tokenized sentence pair with end tokens.
struct TranslationPieces {
  std::span<const int32_t> source, target;
};

/// Traces a tokenized pair; the first decoder key is the start token. The caller sets texts and model name.
/// Throws kUsage for a sentence longer than the model's maximum.
Trace trace_translation(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                        const TranslationPieces& pieces, bool details = false,
                        const nn::HeadScales& head_scales = {});

/// The texts to trace.
struct TraceRequest {
  std::string source = {};
  std::string target = {};                     ///< empty: the model's own translation
  heed::search::SearchOptions search = {};     ///< options for finding it
  bool details = false;                        ///< keep queries, keys, values and scores too: Trace::details
  heed::search::Constraints constraints = {};  ///< of the model's own translation
  nn::HeadScales head_scales = {};             ///< heads that are removed or scaled, in the search too
  int64_t max_weights = 0;                     ///< for more attention weights, throws kUsage; 0: no limit
};

/// A trace with the log-probability of the target, and the score: that divided by length^length_penalty.
struct ScoredTrace {
  Trace trace;
  double log_probability = 0, score = 0;
};
/// Like trace_text. The score of the model's own translation is that of the search.
ScoredTrace trace_text_with_score(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                                  const TraceRequest& request);

/// Traces texts; sets texts and model name. The source is treated as one sentence. Throws like
/// trace_translation.
Trace trace_text(const models::LoadedModel& model, const TranslationTokenizer& tokenizer,
                 const TraceRequest& request);

}  // namespace heed
