// The attention of an encoder-only model for one text or text pair.
#pragma once

#include <string>

#include "inspect/trace/trace.h"
#include "tasks/text_classifier.h"

namespace heed {

/// A trace with the texts as `source`, the tokens including special ones, and the encoder's attention;
/// everything else is empty. Throws kUsage for heads that the model does not have.
Trace trace_encoder(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                    const Encoding& encoding, bool details = false, const nn::HeadScales& head_scales = {});

/// The same for a classifier, with the predicted class as `target`. Throws like TextClassifier::encode, and
/// kUsage for texts longer than the model's maximum.
Trace trace_classification(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                           const tasks::ClassifierText& text, bool details = false,
                           const nn::HeadScales& head_scales = {});

/// The same for a masked language model or an encoder without a head, whose trace has no `target`. Reads the
/// text like encoder_tokens(). Throws kUsage for a text longer than the model's maximum.
Trace trace_encoder_text(const models::LoadedModel& model, const ModelTokenizer& tokenizer,
                         const std::string& text, bool details = false,
                         const nn::HeadScales& head_scales = {});

}  // namespace heed
