// The tokenizer of a training: learnt or copied once, whole or not at all, and found again when the training
// is resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "train/task.h"

namespace heed::train {

/// Leaves the files of the task's tokenizer in the training's directory.
///
/// Several files cannot be replaced at once, so `make` writes them to a directory of their own, from which
/// they are moved; `training/tokenizer_files.json`, written last, names them with their fingerprints and what
/// they were made from. Files without it are as good as none, and are made again.
///
/// `make` is called where there is no tokenizer yet, or one from another text or recipe before the training
/// was begun. It may be ended at any moment together with the process, as nothing else can end
/// SentencePiece's trainer. With training.from the tokenizer is copied instead.
///
/// Returns whether a tokenizer was made. Throws kFormat where a training that was begun does not find the
/// files that it began with; what `make` throws; and Stopped.
bool prepare_tokenizer(const TaskInput& input, uint64_t text,
                       const std::function<void(const std::string& directory)>& make);

/// Of the content of those of the files that are there.
uint64_t fingerprint_files(const std::string& directory, const std::vector<std::string>& names);

}  // namespace heed::train
