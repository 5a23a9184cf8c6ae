// Reports when the gradients of leaves are final, while the rest of a backward pass is still running.
#pragma once

#include "heed/tensor.h"

namespace heed {

/// Is told of the leaves whose gradients are added to memory of the caller (Tape::leaf). Leaves can share
/// memory: a parameter has one for each use.
class LeafObserver {
 public:
  virtual ~LeafObserver() = default;
  /// The forward pass has made a leaf.
  virtual void made(const Tensor& gradient) = 0;
  /// The backward pass adds nothing more to the gradient of this leaf. Also called for other leaves.
  virtual void finished(const Tensor& gradient) = 0;
};

/// In this scope, the tapes of this thread report to an observer, or to none if it is null.
class LeafScope {
 public:
  explicit LeafScope(LeafObserver* observer);
  ~LeafScope();
  LeafScope(const LeafScope&) = delete;
  LeafScope& operator=(const LeafScope&) = delete;

  /// The observer of this thread's innermost scope; null: none.
  static LeafObserver* observer();

 private:
  LeafObserver* outer_;
};

}  // namespace heed
