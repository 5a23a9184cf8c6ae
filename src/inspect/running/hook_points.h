// The states that heed/hooks.h names.
#pragma once

#include <string>
#include <vector>

#include "models/model.h"
#include "nn/state_hook.h"

namespace heed {

/// A state with a name.
struct HookPoint {
  nn::StateId id;
  int head = -1;  ///< of kHeads, from 0
};

/// The name of a state, "cross:3:5"; empty for a state that has none.
std::string hook_name(const HookPoint& point);

/// All that a model has, in the order of the forward pass.
std::vector<HookPoint> hook_points(const models::Model& model);

/// Those that a name stands for, in which "all" is each layer or head. Throws kUsage if there is none.
std::vector<HookPoint> hook_points_named(const models::Model& model, const std::string& name);

}  // namespace heed
