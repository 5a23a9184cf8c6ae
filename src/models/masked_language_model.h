// The interface of masked language models, such as pretrained BERT.
#pragma once

#include <cstdint>
#include <vector>

#include "models/classifier.h"

namespace heed::models {

class MaskedLanguageModel : public Model {
 public:
  Task task() const override { return Task::kMaskedLanguageModel; }
  virtual int64_t vocabulary_size() const = 0;
  /// The maximum input length in tokens, including special tokens.
  virtual int64_t max_length() const = 0;
  /// The logits at these positions, counted over the tokens of all texts: (positions, V).
  virtual Tensor logits(nn::Context& context, const ClassifierInput& input,
                        const std::vector<int32_t>& positions) const = 0;
};

}  // namespace heed::models
