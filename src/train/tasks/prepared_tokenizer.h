// The tokenizer of a training: trained or copied once, atomically, and reused when the training is resumed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "train/tasks/task.h"

namespace heed::train {

/// Creates the tokenizer files of the task in the output directory unless they are there. Several files
/// cannot be replaced atomically: `make` writes them to a temporary directory, from which they are moved;
/// then `training/tokenizer_files.json` is written, with the fingerprints of files, text and recipe. Without
/// it, the files are created again. Corpora of another recipe are removed before. Calls `make` if there is no
/// tokenizer, or one of another text or recipe and the training has not begun. The process may exit during
/// the call, since SentencePiece's trainer cannot be interrupted otherwise. With training.from, the tokenizer
/// is copied instead. Returns whether a tokenizer was created. Throws kFormat if the training has begun and
/// the files are missing or changed, the errors of `make`, and Cancelled.
bool prepare_tokenizer(const TaskInput& input, uint64_t text,
                       const std::function<void(const std::string& directory)>& make);

/// "tokenizer: 4096 tokens (bpe)"; one that was copied may be of another type than the recipe's.
std::string described_tokenizer(const Recipe& recipe, const std::string& size);

/// Fingerprint of the content of those files that exist.
uint64_t fingerprint_files(const std::string& directory, const std::vector<std::string>& names);

}  // namespace heed::train
