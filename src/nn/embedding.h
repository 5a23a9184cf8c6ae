// Rows of a parameter, picked by number: the embeddings of words.
#pragma once

#include <vector>

#include "nn/context.h"
#include "ops/embedding.h"

namespace heed::nn {

/// ids (N), each below V, rows of table (V, D) -> (N, D); ops/embedding.h says what the options do. Of a
/// quantised table, only the rows that are asked for become floats.
Var embedding(Context& context, ParamRef table, const std::vector<int32_t>& ids,
              const ops::EmbeddingOptions& options = {});

}  // namespace heed::nn
