// A model as the variables of CTranslate2's model.bin: Marian, M2M-100, NLLB, BART, mBART, T5, GPT-2, Llama,
// Mistral, Qwen 2 and Qwen 3.
#pragma once

#include <optional>

#include "io/ctranslate2_file.h"
#include "models/directory/loaded_model.h"

namespace heed::models {

/// The types in which CTranslate2 stores weights: kInt8 with a scale for each row of a matrix, kInt16 with
/// one for each matrix; the other weights are then float32.
enum class Ctranslate2Type { kFloat32, kFloat16, kBFloat16, kInt8, kInt16 };

/// The variables of a model that was loaded in float32, with weights in `type`. Marian models have no padding
/// token in CTranslate2: its row of the embedding, from which the decoder starts, is left out and has to be
/// zero. Throws kUsage for a model that CTranslate2 does not support, or would compute differently.
Ctranslate2Variables ctranslate2_variables(const LoadedModel& loaded, Ctranslate2Type type);

/// Options of a model that CTranslate2 keeps in config.json.
struct Ctranslate2Options {
  std::optional<double> norm_epsilon;  ///< layer_norm_epsilon; none: the usual one
  bool grouped_queries = false;        ///< multi_query_attention
  bool marian = false;                 ///< without a padding token, in the vocabulary too; not in config.json
};
Ctranslate2Options ctranslate2_options(const LoadedModel& loaded);

}  // namespace heed::models
