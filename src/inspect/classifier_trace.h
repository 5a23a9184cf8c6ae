// The attention of a classifier's encoder for one text or text pair.
#pragma once

#include <string>

#include "decode/text_classifier.h"
#include "inspect/trace.h"

namespace heed {

/// A trace with the texts as `source`, the predicted class as `target`, the tokens including special ones,
/// and the encoder's attention; everything else is empty. Writes the classifier's result to `result` unless
/// null. Throws like TextClassifier::encode.
Trace trace_classification(const models::LoadedModel& model, const WordPieceTokenizer& tokenizer,
                           const decode::ClassifierText& text, decode::Classification* result = nullptr,
                           bool details = false, const nn::HeadScales& head_scales = {});

}  // namespace heed
