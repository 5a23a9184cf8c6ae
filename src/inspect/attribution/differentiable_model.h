// A model in float32 with gradients with respect to its inputs.
#pragma once

#include "inspect/reading/reading.h"
#include "nn/differentiable_weights.h"

namespace heed {

/// Its weights are as they are stored, whatever the precision in which the model was loaded, so that values
/// and gradients are of the same function. Each sequence of a Transformer has the same values and gradients
/// in any batch, bit for bit. Thread-safe.
class DifferentiableModel {
 public:
  /// The model must outlive this.
  explicit DifferentiableModel(const InspectedModel& inspected)
      : inspected_(inspected),
        weights_(inspected.model().table(), inspected.loaded.values, inspected.loaded.compact(),
                 inspected.loaded.precision == models::Precision::kFloat32 ? inspected.loaded.packed.get()
                                                                           : nullptr) {}

  const models::Model& model() const { return inspected_.model(); }
  nn::Context context() const {
    nn::Context context = inspected_.loaded.context();
    context.packed = nullptr;
    context.differentiable = &weights_;
    return context;
  }

 private:
  const InspectedModel& inspected_;
  nn::DifferentiableWeights weights_;
};

}  // namespace heed
