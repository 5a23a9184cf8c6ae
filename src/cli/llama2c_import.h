// Converts a model of llama2.c to a directory in Hugging Face's Llama layout.
#pragma once

#include <string>

#include "heed/tensor.h"

namespace heed::cli {

struct Llama2cImport {
  std::string model;      ///< the .bin file of the weights
  std::string tokenizer;  ///< tokenizer.model, or llama2.c's own .bin; empty: none
  DType weights = DType::kFloat32;
};

/// Writes config.json, generation_config.json, model.safetensors and, if given, the tokenizer to `directory`,
/// which must exist. Throws kNotFound, kFile or kFormat.
void import_llama2c(const Llama2cImport& import, const std::string& directory);

}  // namespace heed::cli
