// The straight line from the embeddings of a baseline to those of a text, and f of heed/attribution.h along
// it.
#pragma once

#include <vector>

#include "heed/trace.h"
#include "inspect/attribution/differentiable_model.h"
#include "inspect/attribution/explained.h"

namespace heed {

/// Where the path of integrated gradients begins.
struct PathBaseline {
  int32_t source_id = -1;  ///< the token in place of each one of the encoder; -1: zeros
  int32_t target_id = -1;  ///< likewise of the decoder
};

/// The embeddings of a sequence (tokens, D), of the encoder and of the decoder; undefined for a stack that is
/// not there.
struct StackEmbeddings {
  Tensor encoder{}, decoder{};
  Tensor& of(Stack stack) { return stack == Stack::kEncoder ? encoder : decoder; }
  const Tensor& of(Stack stack) const { return stack == Stack::kEncoder ? encoder : decoder; }
};

/// The predictions of a reading, and the path from a baseline to it. Position 0 of the path is the baseline
/// and 1 the text. Thread-safe; results do not depend on threads.
class EmbeddingPath {
 public:
  /// Model and reading must outlive this.
  EmbeddingPath(const DifferentiableModel& model, const Reading& reading, const PathBaseline& baseline);

  /// f of the predictions `chosen` (indices of Reading::target_ids) at each position: (positions, chosen).
  /// One forward pass for each position, since a decoder predicts all tokens at once.
  std::vector<std::vector<double>> values(const std::vector<double>& positions,
                                          const std::vector<size_t>& chosen, int32_t other) const;

  /// For each position, (x_j - b_j) . df/dx_j of each token that leads to a prediction: those of the encoder,
  /// then those of the decoder. The sum over the tokens is the derivative of f along the path.
  std::vector<std::vector<double>> derivatives(const std::vector<double>& positions,
                                               const Explained& explained) const;

 private:
  const DifferentiableModel& model_;
  const Reading& reading_;
  StackEmbeddings from_, steps_;  // b, and x - b
};

/// x_j . df/dx_j at x of each token, in the same order, and f(x).
struct GradientAtText {
  std::vector<double> products{};
  double value = 0;
};
GradientAtText gradient_at_text(const DifferentiableModel& model, const Explained& explained);

}  // namespace heed
