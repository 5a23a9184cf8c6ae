// Calls the hooks of heed/hooks.h in a forward pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/hooks.h"
#include "models/model.h"
#include "nn/state_hook.h"

namespace heed {

class HookCaller : public nn::StateHook {
 public:
  /// `next` receives the states after the hooks; null: none. Throws kUsage for hooks without a function, and
  /// for names that stand for no state of the model.
  HookCaller(const models::Model& model, const Hooks& hooks, nn::StateHook* next = nullptr);

  /// What the decoder reads from now on: of all rows the token at this position; -1: whole sequences.
  void read_position(int position) { position_ = position; }

  bool wants(nn::StateKind kind) const override;
  /// Throws kNumeric if a hook writes NaN or infinity, and what a hook throws.
  Var pass(const nn::StateId& id, const Var& state) override;

 private:
  std::vector<int> positions_of(const nn::StateId& id, int64_t rows) const;

  std::map<std::string, std::vector<Hook>> hooks_;  // by the names of states
  std::vector<nn::StateKind> kinds_;
  nn::StateHook* next_;
  int position_ = -1;
};

}  // namespace heed
