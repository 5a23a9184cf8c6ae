#include "autograd/tape.h"

#include "autograd/leaf_scope.h"
#include "base/check.h"
#include "base/stop.h"

namespace heed {
namespace {

template <typename T>
void add_elements(const Tensor& x, Tensor& sum) {
  const T* from = x.data<T>();
  T* to = sum.data<T>();
  const int64_t size = x.size();  // found once: it is a function of the shape, which the loop might change
  for (int64_t i = 0; i < size; ++i) to[i] += from[i];
}

/// sum += x, both without gaps and of the same size.
void add_to(Tensor& sum, const Tensor& x) {
  HEED_CHECK(sum.size() == x.size() && sum.dtype() == x.dtype() && sum.is_contiguous() && x.is_contiguous());
  if (x.dtype() == DType::kFloat32) {
    add_elements<float>(x, sum);
  } else {
    add_elements<double>(x, sum);
  }
}

Tensor ones_like(const Tensor& tensor) {
  return Tensor::from(std::vector<double>(static_cast<size_t>(tensor.size()), 1.0), tensor.shape())
      .to(tensor.dtype());
}

}  // namespace

Var Tape::leaf(Tensor value, Tensor gradient) {
  HEED_CHECK(!gradient.defined() || gradient.shape() == value.shape());
  StopScope::check();
  const auto slot = static_cast<int32_t>(nodes_.size());
  nodes_.emplace_back();
  LeafObserver* const observer = LeafScope::observer();
  if (observer != nullptr && gradient.defined()) observer->made(gradient);
  gradients_.push_back({std::move(gradient), true});
  return Var(std::move(value), this, slot);
}

void Tape::backward(const Var& output, Tensor upstream) {
  HEED_CHECK(output.tape_ == this);
  if (!upstream.defined()) upstream = ones_like(output.value());
  HEED_CHECK(upstream.shape() == output.shape() && upstream.dtype() == output.dtype() &&
             upstream.is_contiguous());
  add_gradient(output, std::move(upstream));
  LeafObserver* const observer = LeafScope::observer();
  for (int32_t slot = static_cast<int32_t>(nodes_.size()) - 1; slot >= 0; --slot) {
    if (nodes_[slot] == nullptr) {  // a leaf keeps its gradient; all that use it are behind it on the tape
      if (observer != nullptr && gradients_[slot].sum.defined()) observer->finished(gradients_[slot].sum);
      continue;
    }
    StopScope::check();
    const Tensor gradient = std::exchange(gradients_[slot], Gradient()).sum;
    const auto node = std::move(nodes_[slot]);
    if (gradient.defined()) node->run(gradient);
  }
}

Tensor Tape::gradient(const Var& var) const {
  HEED_CHECK(var.tape_ == this);
  return gradients_[var.slot_].sum;
}

void Tape::make_own(Gradient& gradient) {
  if (!gradient.own && !gradient.sum.is_sole_owner()) gradient.sum = gradient.sum.clone();
  gradient.own = true;
}

void Tape::add_gradient(const Var& input, Tensor gradient) {
  if (!input.wants_gradient()) return;
  HEED_CHECK(input.tape_ == this);
  Gradient& slot = gradients_[input.slot_];
  if (!slot.sum.defined()) {
    slot = {std::move(gradient), false};
    // A leaf's gradient outlives the pass.
    if (nodes_[input.slot_] == nullptr) make_own(slot);
    return;
  }
  make_own(slot);
  add_to(slot.sum, gradient);
}

Tensor Tape::accumulator(const Var& input) {
  HEED_CHECK(input.tape_ == this);
  Gradient& slot = gradients_[input.slot_];
  if (!slot.sum.defined()) slot = {Tensor::zeros(input.shape(), input.dtype()), true};
  return gradient_buffer(input);
}

Tensor Tape::gradient_buffer(const Var& input) {
  HEED_CHECK(input.tape_ == this);
  Gradient& slot = gradients_[input.slot_];
  if (slot.sum.defined()) {
    make_own(slot);
  } else {
    slot = {Tensor::empty(input.shape(), input.dtype()), true};
  }
  return slot.sum;
}

void Tape::clear() {
  while (!nodes_.empty()) nodes_.pop_back();
  gradients_.clear();
}

}  // namespace heed
