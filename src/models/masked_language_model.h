// The interface of masked language models, such as pretrained BERT.
#pragma once

#include <cstdint>
#include <vector>

#include "models/encoder.h"
#include "models/vocabulary_head.h"

namespace heed::models {

class MaskedLanguageModel : public Encoder, public VocabularyHead {
 public:
  Task task() const override { return Task::kMaskedLanguageModel; }
  /// The logits at these positions, counted over the tokens of all texts: (positions, V).
  virtual Tensor logits(nn::Context& context, const EncoderInput& input,
                        const std::vector<int32_t>& positions) const = 0;
};

}  // namespace heed::models
