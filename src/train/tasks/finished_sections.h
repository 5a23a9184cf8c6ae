// Finds out, during the backward pass of a shard, which of its gradients are final.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "autograd/leaf_scope.h"
#include "nn/storage/parameters.h"
#include "train/reduce/parameter_slices.h"

namespace heed::train {

/// A section of the parameters is final when the backward pass has finished with all uses of all of them.
/// Reports each section once.
class FinishedSections : public LeafObserver {
 public:
  /// The slices must outlive this.
  FinishedSections(const ParameterSlices& slices, nn::ParameterArray gradients,
                   std::function<void(size_t section)> report);
  /// Call after the forward pass: reports the sections of which nothing was used.
  void begin_backward();
  void made(const Tensor& gradient) override;
  void finished(const Tensor& gradient) override;

 private:
  /// The sections that contain elements of this tensor; none if it is not part of the gradients.
  std::vector<size_t> sections_of(const Tensor& gradient) const;

  const ParameterSlices& slices_;
  const nn::ParameterArray gradients_;  // the same memory
  std::function<void(size_t)> report_;
  std::vector<size_t> uses_;  // of each section, not finished
};

}  // namespace heed::train
