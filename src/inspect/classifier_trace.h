// The attention of a classifier: one pass of one text, or pair of texts, through its encoder.
#pragma once

#include <string>

#include "decode/text_classifier.h"
#include "inspect/trace.h"

namespace heed {

/// The texts as `source`, the class that the model gives them as `target`, their tokens, special ones
/// included, and the attention of the encoder; what a classifier does not have stays empty. The classifier's
/// result is written to `result` unless that is null. Throws as TextClassifier::encode.
Trace trace_classification(const models::LoadedModel& model, const WordPieceTokenizer& tokenizer,
                           const decode::ClassifierText& text, decode::Classification* result = nullptr,
                           bool details = false);

}  // namespace heed
