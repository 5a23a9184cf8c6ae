// Directories of CTranslate2: model.bin with the weights and sizes, config.json, and shared_vocabulary.json,
// or source_vocabulary.json and target_vocabulary.json. Marian, M2M-100, NLLB, BART, mBART and T5 are
// recognized by the variables that they have; language models are in ctranslate2_decoder.h. The tokenizer
// files of the original model have to be added.
//
// A Marian model has no padding token there and starts from a zero vector. In Heed, as in Hugging Face's
// library, the decoder starts from the embedding of the padding token, so that one is appended to the
// vocabulary, with a zero row.
#pragma once

#include <memory>
#include <string>

#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "io/tensor_reader.h"

namespace heed::models {

/// Whether a directory is one of CTranslate2: it has a model.bin, and no model_type in its config.json.
bool is_ctranslate2_directory(const ModelInventory& files, const JsonObject& config);

struct Ctranslate2Model {
  std::string config;                     ///< config.json as in Hugging Face's library
  std::unique_ptr<TensorReader> weights;  ///< under the names of that library
};
/// Opens a directory with this config.json. Throws kNotFound, kFile, or kFormat with the name of what is not
/// supported.
Ctranslate2Model open_ctranslate2(const ModelInventory& files, const JsonObject& config);

}  // namespace heed::models
