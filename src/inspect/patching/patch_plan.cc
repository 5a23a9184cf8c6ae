#include "inspect/patching/patch_plan.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "inspect/reading/sub_layer_names.h"

namespace heed {
namespace {

constexpr float kNoEffect = std::numeric_limits<float>::quiet_NaN();

/// Adds a row of cells without effects; returns the index of the first one.
size_t add_row(PatchMap& map, const std::string& name) {
  map.rows.push_back(name);
  const size_t first = map.effects.size();
  map.effects.resize(first + map.columns.size(), kNoEffect);
  return first;
}

void add(PatchPlan& plan, Patch patch, const PatchCell& cell) {
  plan.patches.push_back(std::move(patch));
  plan.cells.push_back(cell);
}

std::string layer_number(const nn::StateId& id) {
  return std::to_string(id.layer + 1);
}

PatchPlan plan_heads(const std::vector<RecordedState>& states) {
  PatchPlan plan;
  for (size_t n = 0; n < states.size(); ++n) {
    const nn::StateId& id = states[n].id;
    const Stack stack = id.sub_layer == nn::SubLayer::kCrossAttention ? Stack::kCross : id.stack;
    PatchMap& map = plan.map(stack);
    if (map.columns.empty()) {
      for (int head = 1; head <= id.heads; ++head) map.columns.push_back(std::to_string(head));
    }
    HEED_CHECK(map.columns.size() == static_cast<size_t>(id.heads));
    const size_t first = add_row(map, layer_number(id));
    for (int head = 0; head < id.heads; ++head) {
      add(plan, {.states = {n}, .head = head}, {stack, first + static_cast<size_t>(head)});
    }
  }
  if (plan.patches.empty()) {
    fail(ErrorKind::kUsage, "a recurrent network has no attention heads: choose layers or positions");
  }
  return plan;
}

/// Whether a state is what a sub-layer gives: what it adds to the residual stream, or the states of a
/// recurrent layer.
bool is_output(const nn::StateId& id) {
  return id.kind == nn::StateKind::kAdded || id.sub_layer == nn::SubLayer::kRecurrence;
}

void plan_layers_of(Stack stack, const std::vector<RecordedState>& states, PatchPlan& plan) {
  std::vector<std::vector<size_t>> layers;
  std::vector<std::string> parts;
  for (size_t n = 0; n < states.size(); ++n) {
    const nn::StateId& id = states[n].id;
    if (id.stack != stack || !is_output(id)) continue;
    if (static_cast<size_t>(id.layer) >= layers.size()) layers.resize(static_cast<size_t>(id.layer) + 1);
    layers[static_cast<size_t>(id.layer)].push_back(n);
    const std::string part = sub_layer_name(id.sub_layer);
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
  }
  PatchMap& map = plan.map(stack);
  const size_t whole = parts.size() > 1 ? 1 : 0;  // a column for all of a layer
  if (whole == 1) map.columns.emplace_back("layer");
  map.columns.insert(map.columns.end(), parts.begin(), parts.end());
  for (const std::vector<size_t>& layer : layers) {
    const size_t first = add_row(map, layer_number(states[layer.at(0)].id));
    if (whole == 1) add(plan, {.states = layer}, {stack, first});
    for (const size_t n : layer) {
      const auto part = std::find(parts.begin(), parts.end(), sub_layer_name(states[n].id.sub_layer));
      add(plan, {.states = {n}},
          {stack, first + whole + static_cast<size_t>(std::distance(parts.begin(), part))});
    }
  }
}

/// The residual stream before the first layer and after each one.
void plan_positions_of(Stack stack, const std::vector<RecordedState>& states, const std::vector<int>& rows,
                       PatchPlan& plan) {
  for (size_t n = 0; n < states.size(); ++n) {
    const nn::StateId& id = states[n].id;
    if (id.stack != stack || !nn::ends_layer(id)) continue;
    const size_t first = add_row(plan.map(stack), id.layer < 0 ? "embedding" : layer_number(id));
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row] < 0) continue;
      add(plan, {.states = {n}, .row = static_cast<int>(row)}, {stack, first + row});
    }
  }
}

}  // namespace

std::vector<nn::StateKind> patched_kinds(PatchedPart part) {
  switch (part) {
    case PatchedPart::kHeads:
      return {nn::StateKind::kHeads};
    case PatchedPart::kLayers:
      return {nn::StateKind::kAdded, nn::StateKind::kResidual};
    case PatchedPart::kPositions:
      return {nn::StateKind::kResidual};
  }
  HEED_CHECK(false);
}

PatchPlan plan_patches(PatchedPart part, const std::vector<RecordedState>& states, const RowAlignment& rows,
                       const Reading& clean) {
  if (part == PatchedPart::kHeads) return plan_heads(states);
  PatchPlan plan;
  for (const Stack stack : {Stack::kEncoder, Stack::kDecoder}) {
    if (part == PatchedPart::kLayers) {
      plan_layers_of(stack, states, plan);
      continue;
    }
    const std::vector<std::string>& tokens =
        stack == Stack::kEncoder ? clean.encoder_tokens : clean.decoder_tokens;
    const std::vector<int>& counterparts = rows.of(stack);
    plan.map(stack).columns.assign(tokens.begin(),
                                   tokens.begin() + static_cast<std::ptrdiff_t>(counterparts.size()));
    plan_positions_of(stack, states, counterparts, plan);
  }
  return plan;
}

}  // namespace heed
