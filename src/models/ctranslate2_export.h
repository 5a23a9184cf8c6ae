// A Marian model as the variables of CTranslate2's model.bin.
#pragma once

#include "io/ctranslate2_file.h"
#include "models/model_directory.h"

namespace heed::models {

/// The types in which CTranslate2 stores weights: kInt8 with a scale for each row of a matrix, kInt16 with
/// one for each matrix; the other weights are then float32.
enum class Ctranslate2Type { kFloat32, kFloat16, kBFloat16, kInt8, kInt16 };

/// The variables of a model that was loaded in float32, with weights in `type`. CTranslate2 has no padding
/// token: its row of the embedding, from which the decoder starts, is left out and has to be zero. Throws
/// kUsage for a model that CTranslate2 does not support, or would compute differently.
Ctranslate2Variables ctranslate2_variables(const LoadedModel& loaded, Ctranslate2Type type);

}  // namespace heed::models
