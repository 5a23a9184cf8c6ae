// The prepared data of a translation training: tokenizer and tokenized pairs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/corpus/pairs_mix.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "train/loop/trainer.h"
#include "train/tasks/task.h"

namespace heed::train {

struct TranslationData {
  TranslationTokenizer tokenizer;
  Corpus corpus;
  std::optional<Corpus> validation;
  std::optional<Corpus> links;  ///< alignment links of the training corpus, with training.guided_alignment
  std::vector<std::string> validation_source, validation_target;  ///< the first lines, for BLEU and chrF

  uint64_t fingerprint() const;
};

/// The files of a tokenizer, of all families.
const std::vector<std::string>& translation_tokenizer_files();

struct PairsText {
  PairsMix training;
  uint64_t validation = 0;  ///< fingerprint; 0: none
};

/// Reads all pairs without writing anything. Throws the errors of PairsReader and of loading the tokenizer of
/// training.from.
PairsText read_pairs_text(const TaskInput& task);

/// Reuses the files of an earlier run after verifying that they were created from the same text in the same
/// way, and creates missing ones. Throws like CheckedText::prepare.
TranslationData prepare_translation_data(const TaskInput& task, const PairsText& text);

}  // namespace heed::train
