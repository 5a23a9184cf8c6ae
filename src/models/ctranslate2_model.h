// Directories of CTranslate2, read as Marian models: model.bin with the weights and sizes, config.json, and
// shared_vocabulary.json, or source_vocabulary.json and target_vocabulary.json. source.spm and target.spm of
// the original model have to be added.
//
// CTranslate2 has no padding token and starts from a zero vector. In Heed, as in Hugging Face's library, the
// decoder starts from the embedding of the padding token, so that one is appended to the vocabulary, with a
// zero row.
#pragma once

#include <memory>
#include <string>

#include "base/json_file.h"
#include "io/tensor_reader.h"

namespace heed::models {

/// Whether a directory is one of CTranslate2: it has a model.bin, and no model_type in its config.json.
bool is_ctranslate2_directory(const std::string& directory);

struct Ctranslate2Model {
  std::string config;                     ///< the config.json of a Marian model
  std::unique_ptr<TensorReader> weights;  ///< under the names of a Marian model
};
/// Opens a directory. Throws kNotFound, kFile, or kFormat for another architecture than a Marian Transformer,
/// with the name of what is not supported.
Ctranslate2Model open_ctranslate2(const std::string& directory);

}  // namespace heed::models
