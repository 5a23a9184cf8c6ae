// Embedding lookup: rows of a parameter by token id.
#pragma once

#include <vector>

#include "nn/context.h"
#include "ops/embedding.h"

namespace heed::nn {

/// ids (N), each below V, rows of table (V, D) -> (N, D); see ops/embedding.h for the options. Of a
/// table in fewer bits, only these rows are widened.
Var embedding(Context& context, ParamRef table, const std::vector<int32_t>& ids,
              const ops::EmbeddingOptions& options = {});

/// The same, passed to the context's hook as StateKind::kTokens if it wants them.
Var token_embedding(Context& context, Stack stack, ParamRef table, const std::vector<int32_t>& ids,
                    const ops::EmbeddingOptions& options = {});

}  // namespace heed::nn
