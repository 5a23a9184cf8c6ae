// The attention of a translation: one pass through the model with the whole translation as input (teacher
// forcing), which gives each position the weights that it has in search too.
#pragma once

#include <span>
#include <string>

#include "decode/search_options.h"
#include "inspect/trace.h"
#include "models/model_directory.h"
#include "text/tokenizer.h"

namespace heed {

/// A sentence pair as the model sees it, end tokens included.
struct TranslationPieces {
  std::span<const int32_t> source, target;
};

/// Source and target tokens are pieces; the decoder's first key is the token that the model starts from. The
/// texts and the model's name stay for the caller to fill in. Throws kUsage for a sentence longer than the
/// model's positions.
Trace trace_translation(const models::LoadedModel& model, const Tokenizer& tokenizer,
                        const TranslationPieces& pieces, bool details = false);

/// What to trace.
struct TraceRequest {
  std::string source = {};
  std::string target = {};            ///< empty: the model's own translation
  decode::SearchOptions search = {};  ///< how that is found
  bool details = false;               ///< keep queries, keys, values and scores too: Trace::details
  std::string prefix = {};            ///< that the model's own translation begins with
};

/// A trace with the log-probability of the target, and that divided by length^length_penalty.
struct ScoredTrace {
  Trace trace;
  double log_probability = 0, score = 0;
};
/// As trace_text. The score of the model's own translation is that of the search.
ScoredTrace trace_text_with_score(const models::LoadedModel& model, const Tokenizer& tokenizer,
                                  const TraceRequest& request);

/// The trace of texts, with the texts and the model's name. The source is one sentence here, however long.
/// Throws like trace_translation.
Trace trace_text(const models::LoadedModel& model, const Tokenizer& tokenizer, const TraceRequest& request);

}  // namespace heed
