// Language models of CTranslate2 (TransformerDecoderSpec): GPT-2, Llama, Mistral, Qwen 2 and Qwen 3.
#pragma once

#include <string>
#include <vector>

#include "models/formats/ctranslate2_mapping.h"

namespace heed::models {

struct Ctranslate2Decoder {
  std::string config;  ///< config.json
  std::vector<MappedRows> rows;
};

/// The family follows from the variables: stored positions, norms of queries, windows, biases. Throws kFormat
/// for another model, naming what is not supported.
Ctranslate2Decoder map_ctranslate2_decoder(const Ctranslate2Directory& directory);

}  // namespace heed::models
