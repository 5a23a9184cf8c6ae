// Models whose source may have another vocabulary than their target.
#pragma once

#include <cstdint>

#include "models/autoregressive_model.h"

namespace heed::models {

/// Implemented by such models.
class SourceVocabulary {
 public:
  /// The number of source ids.
  virtual int64_t source_vocabulary_size() const = 0;

 protected:
  ~SourceVocabulary() = default;
};

/// The number of ids that a model reads: those of its source, by default its vocabulary_size().
int64_t source_vocabulary_size(const AutoregressiveModel& model);

}  // namespace heed::models
