// Forward passes over the stacks of a model of any task, with gradients where they are wanted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/sequences.h"
#include "models/model.h"
#include "nn/context.h"

namespace heed {

/// What the stacks of a model read; several sequences are a batch.
struct ModelInput {
  Sequences source{};            ///< of an encoder
  Sequences target{};            ///< of a decoder
  std::vector<int32_t> types{};  ///< token types of an encoder-only model; empty: all 0
};

/// The output of the stack that predicts, which the model's head reads: that of the decoder if there is one,
/// else of the encoder: (N, D).
Var run_stacks(const models::Model& model, nn::Context& context, const ModelInput& input);

/// Logits of tokens at these rows of run_stacks(): (rows, V); of a classifier those of all sequences,
/// whatever the rows: (B, classes). Throws kUsage for an encoder without a head.
Var prediction_logits(const models::Model& model, nn::Context& context, const ModelInput& input,
                      const std::vector<int32_t>& rows);

}  // namespace heed
