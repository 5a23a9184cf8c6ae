// Models of Marian (marian-nmt.github.io), read as Marian models of Hugging Face's library: an .npz file with
// the weights, and with all options as YAML, "special:model.yml".
//
// Marian's matrices are (inputs, outputs); its biases and norms are (1, outputs). It has no padding token and
// starts from a zero vector. In Heed, as in Hugging Face's library, the decoder starts from the embedding of
// the padding token, so that one is appended to the vocabulary, with a zero row.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/tensor_reader.h"

namespace heed::models {

/// The sizes of a model's vocabularies, without a padding token.
struct MarianVocabularies {
  int64_t source_size = 0, target_size = 0;
  int64_t end_id = 0;  ///< of "</s>" in the target
};

struct MarianImport {
  std::string config;                     ///< the config.json of a Marian model
  std::unique_ptr<TensorReader> weights;  ///< under the names of a Marian model
};

/// Opens an .npz file. Throws kNotFound, kFile, or kFormat for another architecture than a Transformer that
/// Heed has, with the name of the option or parameter that is not supported.
MarianImport open_marian(const std::string& path, const MarianVocabularies& vocabularies);

}  // namespace heed::models
