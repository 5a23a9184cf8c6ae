// Records the states that pass in a forward pass.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "nn/state_hook.h"

namespace heed {

struct RecordedState {
  nn::StateId id;
  Tensor value;  ///< (N, width)
};

class StateRecorder : public nn::StateHook {
 public:
  explicit StateRecorder(std::vector<nn::StateKind> kinds) : kinds_(std::move(kinds)) {}
  bool wants(nn::StateKind kind) const override { return std::ranges::count(kinds_, kind) > 0; }
  Var pass(const nn::StateId& id, const Var& state) override {
    states.push_back({id, state.value()});
    return state;
  }
  std::vector<RecordedState> states;  ///< in the order of the forward pass

 private:
  std::vector<nn::StateKind> kinds_;
};

}  // namespace heed
