// Reverse-mode automatic differentiation.
//
// A Tape lists the operations of a forward pass in execution order, which is a topological order. The
// backward pass walks it from the end; each entry passes the gradient of its output to its inputs by the
// chain rule and is freed. There is no recursion and no sorting. A tape belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/memory_pool.h"
#include "heed/tensor.h"

namespace heed {

class Tape;

/// A tensor and, if gradients are wanted, its slot on a tape.
class Var {
 public:
  Var() = default;
  /// A constant. Not explicit: every tensor can be used where a Var is taken.
  Var(Tensor value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  bool defined() const { return value_.defined(); }
  const Tensor& value() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  int64_t dim(int axis) const { return value_.dim(axis); }
  DType dtype() const { return value_.dtype(); }
  /// Null for a constant.
  Tape* tape() const { return tape_; }
  bool wants_gradient() const { return tape_ != nullptr; }
  /// True if both are the same variable, not just equal values.
  bool is_same_as(const Var& other) const {
    if (tape_ != other.tape_ || slot_ != other.slot_ || defined() != other.defined()) return false;
    if (!defined()) return true;
    if (value_.bytes() != other.value_.bytes() || shape() != other.shape() || dtype() != other.dtype())
      return false;
    int axis = 0;  // views of other strides have other elements
    while (axis < value_.rank() && value_.stride(axis) == other.value_.stride(axis)) ++axis;
    return axis == value_.rank();
  }

 private:
  friend class Tape;
  Var(Tensor value, Tape* tape, int32_t slot) : value_(std::move(value)), tape_(tape), slot_(slot) {}
  Tensor value_;
  Tape* tape_ = nullptr;
  int32_t slot_ = -1;
};

class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// A variable to differentiate by. Gradients are added to `gradient`, a tensor of the same shape that the
  /// caller has set to zero; without one, see gradient().
  Var leaf(Tensor value, Tensor gradient = {});

  /// Puts the result of an operation on the tape. backward(upstream) is called at most once, with the
  /// gradient with respect to `value`, and passes it on with add_gradient() or accumulator().
  template <typename Backward>
  Var record(Tensor value, Backward backward) {
    const auto slot = static_cast<int32_t>(nodes_.size());
    nodes_.emplace_back(new Step<Backward>(std::move(backward)));
    gradients_.emplace_back();
    return Var(std::move(value), this, slot);
  }

  /// The backward pass from `output`, whose own gradient is `upstream` (ones, if not given), to all leaves.
  /// Everything on the tape is freed but the gradients of the leaves.
  void backward(const Var& output, Tensor upstream = {});

  /// The gradient so far; after backward(), that of a leaf. Undefined if no gradient has reached it.
  Tensor gradient(const Var& var) const;

  /// For backward functions: adds to the gradient of an input; ignores constants. The tape may keep and share
  /// the tensor.
  void add_gradient(const Var& input, Tensor gradient);
  /// For backward functions that accumulate in place: the gradient of an input so far, zeros if there is
  /// none. Repeated calls return the same memory.
  Tensor accumulator(const Var& input);
  /// The same for backward functions that write every element if gradient() was undefined before: in that
  /// case the memory is uninitialized.
  Tensor gradient_buffer(const Var& input);

  /// Clears everything, including gradients; keeps the memory of the lists.
  void clear();
  size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    virtual ~Node() = default;
    virtual void run(const Tensor& upstream) = 0;
    static void* operator new(size_t size) { return pool_allocate(size); }
    static void operator delete(void* address) { pool_free(address); }
  };
  template <typename Backward>
  struct Step : Node {
    explicit Step(Backward function) : backward(std::move(function)) {}
    void run(const Tensor& upstream) override { backward(upstream); }
    Backward backward;
  };

  /// A gradient so far. If `own` is false, its memory may be shared and must not be changed.
  struct Gradient {
    Tensor sum;
    bool own = false;
  };
  static void make_own(Gradient& gradient);

  std::vector<std::unique_ptr<Node>> nodes_;  // null for leaves
  std::vector<Gradient> gradients_;
};

/// The tape of the inputs; null if all are constants.
template <typename... Vars>
Tape* tape_of(const Vars&... inputs) {
  Tape* tape = nullptr;
  ((tape = tape != nullptr ? tape : inputs.tape()), ...);
  return tape;
}

}  // namespace heed
