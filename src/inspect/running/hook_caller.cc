#include "inspect/running/hook_caller.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "inspect/running/hook_points.h"
#include "tensor/finite.h"

namespace heed {
namespace {

/// Some columns of a matrix.
struct Columns {
  int64_t begin = 0, count = 0;
};

std::vector<float> columns_of(const Tensor& matrix, const Columns& columns) {
  std::vector<float> values;
  values.reserve(static_cast<size_t>(matrix.dim(0) * columns.count));
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    const float* first = matrix.data<float>() + row * matrix.dim(1) + columns.begin;
    values.insert(values.end(), first, first + columns.count);
  }
  return values;
}

void put_columns(const std::vector<float>& values, const Columns& columns, Tensor& matrix) {
  for (int64_t row = 0; row < matrix.dim(0); ++row) {
    std::copy_n(values.data() + row * columns.count, columns.count,
                matrix.data<float>() + row * matrix.dim(1) + columns.begin);
  }
}

/// What the hooks of a state make of its values.
void call_hooks(const std::vector<Hook>& hooks, const HookedState& state) {
  for (const Hook& hook : hooks) {
    hook(state);
    if (first_not_finite(state.values.data(), state.values.size()) == state.values.size()) continue;
    fail(ErrorKind::kNumeric, "after the hook on '{}' its values are NaN or infinite: write finite numbers",
         state.name);
  }
}

}  // namespace

HookCaller::HookCaller(const models::Model& model, const Hooks& hooks, nn::StateHook* next) : next_(next) {
  for (const auto& [name, hook] : hooks) {
    if (!hook) fail(ErrorKind::kUsage, "the hook on '{}' has no function: give one", name);
    for (const HookPoint& point : hook_points_named(model, name)) {
      hooks_[hook_name(point)].push_back(hook);
      kinds_.push_back(point.id.kind);
    }
  }
}

bool HookCaller::wants(nn::StateKind kind) const {
  return std::ranges::count(kinds_, kind) > 0 || (next_ != nullptr && next_->wants(kind));
}

std::vector<int> HookCaller::positions_of(const nn::StateId& id, int64_t rows) const {
  std::vector<int> positions(static_cast<size_t>(rows), position_);
  const bool whole = position_ < 0 || id.stack == Stack::kEncoder;
  if (whole) std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

Var HookCaller::pass(const nn::StateId& id, const Var& state) {
  Tensor values = state.value();  // (N, width)
  bool replaced = false;
  const int heads = id.kind == nn::StateKind::kHeads ? id.heads : 1;
  const int64_t width = values.dim(1) / heads;
  const std::vector<int> positions = positions_of(id, values.dim(0));
  for (int head = 0; head < heads; ++head) {
    const auto found = hooks_.find(hook_name({id, head}));
    if (found == hooks_.end()) continue;
    const Columns columns{head * width, width};
    std::vector<float> vectors = columns_of(values, columns);
    call_hooks(
        found->second,
        {.name = found->first, .positions = positions, .width = static_cast<int>(width), .values = vectors});
    if (!std::exchange(replaced, true)) values = values.clone();
    put_columns(vectors, columns, values);
  }
  const Var passed = replaced ? Var(values) : state;
  return next_ != nullptr && next_->wants(id.kind) ? next_->pass(id, passed) : passed;
}

}  // namespace heed
