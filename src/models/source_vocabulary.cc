#include "models/source_vocabulary.h"

namespace heed::models {

int64_t source_vocabulary_size(const AutoregressiveModel& model) {
  const auto* source = dynamic_cast<const SourceVocabulary*>(&model);
  return source == nullptr ? model.vocabulary_size() : source->source_vocabulary_size();
}

}  // namespace heed::models
