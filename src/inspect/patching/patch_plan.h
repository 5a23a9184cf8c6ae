// Which parts of a model's states are replaced, and where their effects stand in the maps.
#pragma once

#include <array>

#include "heed/patching.h"
#include "inspect/patching/patched_run.h"

namespace heed {

/// Where the effect of a patch stands.
struct PatchCell {
  Stack map = Stack::kEncoder;  ///< kCross: the heads of cross-attention
  size_t index = 0;             ///< in PatchMap::effects
};

struct PatchPlan {
  std::vector<Patch> patches{};
  std::vector<PatchCell> cells{};  ///< of each patch
  /// By stack, with all effects NaN.
  std::array<PatchMap, 3> maps{};

  PatchMap& map(Stack stack) { return maps[static_cast<size_t>(stack)]; }
};

/// The kinds of states that a clean run records for this.
std::vector<nn::StateKind> patched_kinds(PatchedPart part);

/// `clean`: whose tokens name the positions. Throws kUsage for heads of a model without
/// attention heads.
PatchPlan plan_patches(PatchedPart part, const std::vector<RecordedState>& states, const RowAlignment& rows,
                       const Reading& clean);

}  // namespace heed
