// Models of llama2.c, presented as Llama models of Hugging Face's library.
#pragma once

#include <string>

#include "cli/files/imported_model.h"

namespace heed::cli {

/// `model`: the .bin file of the weights. `tokenizer`: tokenizer.model, or llama2.c's own .bin; empty: none.
/// Throws kNotFound, kFile or kFormat.
ImportedModel import_llama2c(const std::string& model, const std::string& tokenizer);

}  // namespace heed::cli
