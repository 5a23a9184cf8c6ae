// The self-attention of a language model for a text.
#pragma once

#include <string>

#include "inspect/trace/trace.h"
#include "models/directory/loaded_model.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {

/// A trace whose `decoder` is the model's self-attention; encoder, cross and source are empty. Queries and
/// keys are the input tokens, beginning with the start token if every text has one. The target tokens are
/// those that the rows predict: the next token, and in the last row the most probable one;
/// `log_probabilities` are theirs. Throws kUsage for a text without tokens, or longer than the model's
/// maximum.
Trace trace_language_model(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                           const std::string& text, bool details = false,
                           const nn::HeadScales& head_scales = {});

}  // namespace heed
