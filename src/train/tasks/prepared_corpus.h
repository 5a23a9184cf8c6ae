// The tokenized corpus of a training: created once and reused when the training is resumed.
#pragma once

#include <functional>
#include <string>

#include "data/corpus/corpus.h"
#include "train/tasks/task.h"

namespace heed::train {

struct PreparedCorpus {
  std::string path;     ///< of the corpus file
  std::string name;     ///< name of the text in messages
  CorpusOrigin wanted;  ///< expected origin
};

/// Opens the corpus and verifies its checksum; calls `make` first if there is none. If the training has
/// begun, throws kUsage for a corpus of another text and kFormat for a damaged one; otherwise creates it
/// again. Throws Cancelled.
Corpus prepared_corpus(const TaskInput& input, const PreparedCorpus& corpus,
                       const std::function<void()>& make);

}  // namespace heed::train
