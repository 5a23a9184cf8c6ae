// The corpus of a training: made once, and found again when the training goes on.
#pragma once

#include <functional>
#include <string>

#include "data/corpus.h"
#include "train/task.h"

namespace heed::train {

struct PreparedCorpus {
  std::string path;     ///< of the file of ids
  std::string name;     ///< of the text, for messages
  CorpusOrigin wanted;  ///< what the corpus must have been made from
};

/// The corpus that stands there, every byte of which is checked; made first by `make` if none does. Throws
/// kUsage for one that was made from other text and kFormat for one that is damaged, where the training was
/// begun; before that, it is made again. Throws Stopped.
Corpus prepared_corpus(const TaskInput& input, const PreparedCorpus& corpus,
                       const std::function<void()>& make);

}  // namespace heed::train
