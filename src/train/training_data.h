// The data of a training, on disk beside it: the tokenizer, and the text as ids.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "data/corpus.h"
#include "text/tokenizer.h"
#include "train/trainer.h"

namespace heed::train {

struct TrainingData {
  Tokenizer tokenizer;
  Corpus corpus;
  std::optional<Corpus> validation;
  std::vector<std::string> validation_source, validation_target;  ///< the first lines, for BLEU and chrF
};

/// Uses what stands in the directory of an earlier run, after checking that it was made from the same text in
/// the same way, and makes what is missing. Throws kUsage where the text has changed since.
TrainingData prepare_training_data(const TrainerOptions& options, ThreadPool& pool,
                                   const std::function<void(const std::string&)>& say);

}  // namespace heed::train
