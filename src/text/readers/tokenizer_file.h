// Reads tokenizer files.
#pragma once

#include <string>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/model_inventory.h"

namespace heed {

/// The content of a tokenizer file of at most 64 MiB (large vocabularies have tens of megabytes). Throws
/// kNotFound or kFile.
inline std::string read_tokenizer_file(const std::string& path) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  try {
    return read_file(path, kMaxBytes);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNotFound) throw;
    fail(ErrorKind::kNotFound,
         "{}; the tokenizer needs this file: complete the download of the model, or copy the file from the "
         "original model",
         error.what());
  }
}

/// The content of tokenizer_config.json; without one, that of an empty object. Throws kFile.
inline std::string read_tokenizer_config_file(const ModelInventory& files) {
  if (!files.has(model_file::kTokenizerConfig)) return "{}";
  return read_tokenizer_file(files.path(model_file::kTokenizerConfig));
}

}  // namespace heed
