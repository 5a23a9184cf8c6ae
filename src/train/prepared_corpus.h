// The corpus of a training: made once, and found again when the training goes on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace heed::train {

struct PreparedCorpus {
  std::string path;     ///< of the file of ids
  std::string output;   ///< the training's directory, for messages
  std::string name;     ///< of the text, for messages
  CorpusOrigin wanted;  ///< what the corpus must have been made from
};

/// The corpus that stands there; made first by `make` if none does. Throws kUsage for one that was made from
/// other text.
Corpus prepared_corpus(const PreparedCorpus& corpus, const std::function<void()>& make);

/// Of the content of those of the files that are there.
uint64_t fingerprint_files(const std::string& directory, const std::vector<std::string>& names);

}  // namespace heed::train
