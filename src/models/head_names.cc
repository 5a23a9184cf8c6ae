#include "models/head_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"

namespace heed {

const char* stack_name(Stack stack) {
  switch (stack) {
    case Stack::kEncoder:
      return "encoder";
    case Stack::kDecoder:
      return "decoder";
    case Stack::kCross:
      return "cross";
  }
  HEED_CHECK(false);
}

namespace models {
namespace {

/// Parses a number from 1, or "all". Returns an index from 0, or -1.
int number_from_1(std::string_view part, const std::string& whole) {
  if (part == "all") return -1;
  int number = 0;
  const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
  if (error == std::errc() && end == part.data() + part.size() && number >= 1) return number - 1;
  fail(ErrorKind::kUsage, "'{}' names no head: write stack:layer:head, such as cross:3:5 or encoder:1:all",
       shown(whole));
}

void require_any_head(const Model& model) {
  const auto has_heads = [&](Stack stack) { return model.attention_heads(stack).layers > 0; };
  if (std::ranges::any_of(kStacks, has_heads)) return;
  fail(ErrorKind::kUsage, "the attention of a recurrent network has no heads that can be switched off");
}

}  // namespace

nn::HeadScale parse_head(const std::string& text, float scale) {
  const size_t first = text.find(':');
  const size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  const std::string stack = text.substr(0, first);
  nn::HeadScale head{.scale = scale};
  if (stack == "encoder") {
    head.layer_id.stack = Stack::kEncoder;
  } else if (stack == "decoder") {
    head.layer_id.stack = Stack::kDecoder;
  } else if (stack == "cross") {
    head.layer_id.stack = Stack::kCross;
  } else {
    number_from_1("", text);  // throws
  }
  if (first == std::string::npos) number_from_1("", text);
  head.layer_id.layer = number_from_1(
      std::string_view(text).substr(first + 1, second == std::string::npos ? second : second - first - 1),
      text);
  if (second != std::string::npos) head.head = number_from_1(std::string_view(text).substr(second + 1), text);
  return head;
}

nn::HeadScales heads_off(const std::vector<std::string>& heads) {
  std::vector<nn::HeadScale> scales;
  for (const std::string& head : heads) scales.push_back(parse_head(head));
  return nn::HeadScales(std::move(scales));
}

std::string head_name(const nn::HeadScale& head) {
  return fmt::format("{}:{}:{}", stack_name(head.layer_id.stack), head.layer_id.layer + 1, head.head + 1);
}

std::vector<nn::HeadScale> heads_of(const Model& model) {
  require_any_head(model);
  std::vector<nn::HeadScale> all;
  for (const Stack stack : {Stack::kEncoder, Stack::kCross, Stack::kDecoder}) {
    const auto [layers, heads] = model.attention_heads(stack);
    for (int layer = 0; layer < layers; ++layer) {
      for (int head = 0; head < heads; ++head) all.push_back({{stack, layer}, head, 0});
    }
  }
  return all;
}

void require_heads(const Model& model, const nn::HeadScales& scales) {
  for (const nn::HeadScale& each : scales.all()) {
    require_any_head(model);
    const Stack stack = each.layer_id.stack;
    const auto [layers, heads] = model.attention_heads(stack);
    if (layers == 0) fail(ErrorKind::kUsage, "this model has no attention '{}'", stack_name(stack));
    if (each.layer_id.layer < layers && each.head < heads) continue;
    fail(ErrorKind::kUsage,
         "there is no head {} in layer {} of '{}': the model has layers 1 to {} with heads 1 to {}",
         each.head + 1, each.layer_id.layer + 1, stack_name(stack), layers, heads);
  }
}

}  // namespace models
}  // namespace heed
