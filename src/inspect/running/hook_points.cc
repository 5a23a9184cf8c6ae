#include "inspect/running/hook_points.h"

#include <charconv>

#include "base/check.h"
#include "base/text/printable.h"
#include "inspect/reading/sub_layer_names.h"
#include "models/head_names.h"

namespace heed {
namespace {

void add_layer(const models::Model& model, Stack stack, int layer, std::vector<HookPoint>& points) {
  using nn::SubLayer;
  const bool crosses = stack == Stack::kDecoder && model.attention_heads(Stack::kCross).layers > 0;
  const auto add_attention = [&](SubLayer sub_layer, Stack which) {
    const int heads = model.attention_heads(which).heads;
    for (int head = 0; head < heads; ++head) {
      points.push_back({{stack, nn::StateKind::kHeads, layer, sub_layer, heads}, head});
    }
    points.push_back({{stack, nn::StateKind::kAdded, layer, sub_layer}});
  };
  const bool recurrent = model.attention_heads(stack).layers == 0;
  if (!recurrent) {
    add_attention(SubLayer::kSelfAttention, stack);
    if (crosses) add_attention(SubLayer::kCrossAttention, Stack::kCross);
    points.push_back({{stack, nn::StateKind::kAdded, layer, SubLayer::kFeedForward}});
  }
  const SubLayer last = recurrent ? SubLayer::kRecurrence : SubLayer::kFeedForward;
  points.push_back({{stack, nn::StateKind::kResidual, layer, last}});
}

bool is_number(std::string_view part) {
  int number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  return error == std::errc() && end == part.data() + part.size();
}

/// Whether `pattern` is the name, with "all" for any of its numbers.
bool stands_for(std::string_view pattern, std::string_view name) {
  for (;;) {
    const size_t wanted = pattern.find(':'), part = name.find(':');
    const bool equal = pattern.substr(0, wanted) == name.substr(0, part);
    if (!equal && !(pattern.substr(0, wanted) == "all" && is_number(name.substr(0, part)))) return false;
    const bool ends = part == std::string_view::npos;
    if (ends != (wanted == std::string_view::npos)) return false;
    if (ends) return true;
    pattern.remove_prefix(wanted + 1);
    name.remove_prefix(part + 1);
  }
}

/// "encoder:embedding, encoder:1:1, ..., encoder:1:layer, encoder:output": of the first layer what has a
/// name.
std::string names_of_first_layer(const std::vector<HookPoint>& points) {
  std::vector<std::string> names;
  for (const HookPoint& point : points) {
    if (point.id.layer <= 0 && point.head <= 0) names.push_back(hook_name(point));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string hook_name(const HookPoint& point) {
  const nn::StateId& id = point.id;
  const int layer = id.layer + 1;
  switch (id.kind) {
    case nn::StateKind::kHeads: {
      const bool crosses = id.sub_layer == nn::SubLayer::kCrossAttention;
      return models::head_name({{crosses ? Stack::kCross : id.stack, id.layer}, point.head});
    }
    case nn::StateKind::kAdded:
      return fmt::format("{}:{}:{}", stack_name(id.stack), layer, sub_layer_name(id.sub_layer));
    case nn::StateKind::kResidual:
      if (id.layer < 0) return fmt::format("{}:embedding", stack_name(id.stack));
      return nn::ends_layer(id) ? fmt::format("{}:{}:layer", stack_name(id.stack), layer) : "";
    case nn::StateKind::kOutput:
      return fmt::format("{}:output", stack_name(id.stack));
    case nn::StateKind::kTokens:
      return "";
  }
  HEED_CHECK(false);
}

std::vector<HookPoint> hook_points(const models::Model& model) {
  std::vector<HookPoint> points;
  for (const Stack stack : {Stack::kEncoder, Stack::kDecoder}) {
    const int layers = model.layers(stack);
    if (layers == 0) continue;
    points.push_back({{stack, nn::StateKind::kResidual}});
    for (int layer = 0; layer < layers; ++layer) add_layer(model, stack, layer, points);
    points.push_back({{stack, nn::StateKind::kOutput}});
  }
  return points;
}

std::vector<HookPoint> hook_points_named(const models::Model& model, const std::string& name) {
  const std::vector<HookPoint> all = hook_points(model);
  std::vector<HookPoint> named;
  for (const HookPoint& point : all) {
    if (stands_for(name, hook_name(point))) named.push_back(point);
  }
  if (named.empty()) {
    fail(ErrorKind::kUsage,
         "the model has no state '{}' for a hook: it has {}, and likewise for all its layers and heads "
         "(encoder: "
         "{} layers, decoder: {})",
         shown(name), names_of_first_layer(all), model.layers(Stack::kEncoder),
         model.layers(Stack::kDecoder));
  }
  return named;
}

}  // namespace heed
