// What use asks of a model that says which words could stand in the gaps of a text: BERT as it is first
// trained.
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
  /// The logits at some places, counted over the tokens of all texts: (places, V).
  virtual Tensor logits(nn::Context& context, const ClassifierInput& input,
                        const std::vector<int32_t>& places) const = 0;
};

}  // namespace heed::models
