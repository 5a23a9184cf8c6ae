// The attention of a language model to its own text.
#pragma once

#include <string>

#include "inspect/trace.h"
#include "models/model_directory.h"
#include "text/text_tokenizer.h"

namespace heed {

/// One pass over a text, as a trace whose `decoder` is the model's self-attention; encoder, cross and source
/// are empty. Keys are the tokens that the model has read, the first of them the start token where every text
/// has one. The query of a row is what the model was to write there: the token behind, and in the last row
/// the one that it finds likeliest. Throws kUsage for a text without tokens, or longer than the model's
/// positions.
Trace trace_language_model(const models::LoadedModel& model, const TextTokenizer& tokenizer,
                           const std::string& text, bool details = false);

}  // namespace heed
