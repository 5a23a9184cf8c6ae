// The data of a training to translate, on disk beside it: the tokenizer, and the pairs as ids.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/corpus.h"
#include "data/pairs_mix.h"
#include "text/tokenizer.h"
#include "train/task.h"
#include "train/trainer.h"

namespace heed::train {

struct TranslationData {
  Tokenizer tokenizer;
  Corpus corpus;
  std::optional<Corpus> validation;
  std::optional<Corpus> links;  ///< of the training corpus, with training.guided_alignment
  std::vector<std::string> validation_source, validation_target;  ///< the first lines, for BLEU and chrF
};

struct PairsText {
  PairsMix training;
  uint64_t validation = 0;  ///< a fingerprint; 0 for none
};

/// Reads all pairs and writes nothing. Throws what PairsReader throws, and what reading the tokenizer of
/// training.from throws.
PairsText read_pairs_text(const TaskInput& task);

/// Uses what stands in the directory of an earlier run, after checking that it was made from the same text in
/// the same way, and makes what is missing. Throws as Task::prepare().
TranslationData prepare_translation_data(const TaskInput& task, const PairsText& text);

}  // namespace heed::train
