#include "inspect/trace/trace.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "models/head_names.h"

namespace heed {
namespace {

/// Tolerance above 1: the rounding error of a float32 softmax over n keys is below n * 2^-24, here for n =
/// 2^14.
constexpr float kLargestWeight = 1.001F;

std::optional<int> parse_number(const std::string& what, const std::string& text, const std::string& others) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    fail(ErrorKind::kUsage, "unknown {} '{}': give a number from 1 on, or {}", what, text, others);
  }
  return number - 1;
}

/// The maximum number of heads per layer of a stack.
int count_heads(const StackWeights& layers) {
  size_t heads = 0;
  for (const auto& layer : layers) heads = std::max(heads, layer.size());
  return static_cast<int>(heads);
}

void check_index(const std::string& what, int index, int count, const std::string& where) {
  if (index >= 0 && index < count) return;
  fail(ErrorKind::kUsage, "{} {} does not exist in the {}: choose 1 to {}, or all", what, index + 1, where,
       count);
}

void check_matrix(const AttentionMatrix& matrix, const std::string& where, size_t queries, size_t keys) {
  if (matrix.empty() && matrix.weights.empty()) return;
  if (matrix.queries < 0 || matrix.keys <= 0 || static_cast<size_t>(matrix.queries) != queries ||
      static_cast<size_t>(matrix.keys) != keys || matrix.weights.size() != queries * keys) {
    fail(ErrorKind::kShape,
         "attention of {}: {} weights for {} queries and {} keys, but the tokens are {} and {}", where,
         matrix.weights.size(), matrix.queries, matrix.keys, queries, keys);
  }
  for (size_t n = 0; n < matrix.weights.size(); ++n) {
    const float weight = matrix.weights[n];
    if (weight >= 0 && weight <= kLargestWeight) continue;
    fail(ErrorKind::kNumeric,
         "attention of {}: the weight of query {} for key {} is {}, not a number from 0 to 1", where,
         n / keys + 1, n % keys + 1, weight);
  }
}

void check_detail(const HeadDetail& detail, const std::string& where, size_t queries, size_t keys) {
  if (detail.empty()) return;
  const auto require = [&](const char* what, size_t numbers, size_t expected) {
    if (numbers == expected) return;
    fail(ErrorKind::kShape,
         "details of {}: {} has {} numbers, not the {} of {} queries, {} keys and a width of {}", where, what,
         numbers, expected, queries, keys, detail.width);
  };
  const auto width = static_cast<size_t>(std::max(detail.width, 0));
  require("query", detail.query.size(), queries * width);
  require("key", detail.key.size(), keys * width);
  require("value", detail.value.size(), keys * width);
  require("scores", detail.scores.size(), queries * keys);
  if (!detail.bias.empty()) require("bias", detail.bias.size(), queries * keys);
  if (!detail.visible.empty()) require("visible", detail.visible.size(), queries * keys);
  if (width == 0) fail(ErrorKind::kShape, "details of {}: a width cannot be {}", where, detail.width);
}

AttentionMatrix mean_of(const std::vector<AttentionMatrix>& heads) {
  AttentionMatrix mean;
  std::vector<double> sums;
  int count = 0;
  for (const AttentionMatrix& head : heads) {
    if (head.empty()) continue;
    if (mean.empty()) {
      mean = head;
      sums.resize(head.weights.size());
    }
    if (head.weights.size() != sums.size()) {
      fail(ErrorKind::kShape, "the heads of a layer differ in size: {} and {} weights", sums.size(),
           head.weights.size());
    }
    for (size_t n = 0; n < sums.size(); ++n) sums[n] += static_cast<double>(head.weights[n]);
    ++count;
  }
  for (size_t n = 0; n < sums.size(); ++n) mean.weights[n] = static_cast<float>(sums[n] / count);
  return mean;
}

/// The names of the recorded stacks.
std::vector<std::string> stacks_of(const Trace& trace) {
  std::vector<std::string> names;
  for (const Stack stack : kStacks) {
    if (!stack_of(trace, stack).empty()) names.emplace_back(stack_name(stack));
  }
  return names;
}

}  // namespace

const StackWeights& stack_of(const Trace& trace, Stack stack) {
  switch (stack) {
    case Stack::kEncoder:
      return trace.encoder;
    case Stack::kDecoder:
      return trace.decoder;
    case Stack::kCross:
      return trace.cross;
  }
  HEED_CHECK(false);
}

StackWeights& stack_of(Trace& trace, Stack stack) {
  return const_cast<StackWeights&>(stack_of(static_cast<const Trace&>(trace), stack));
}

bool is_decoder_only(const Trace& trace) {
  return trace.source_tokens.empty() && !trace.decoder_tokens.empty();
}

const std::vector<std::string>& query_tokens(const Trace& trace, Stack stack) {
  if (stack == Stack::kEncoder) return trace.source_tokens;
  return is_decoder_only(trace) ? trace.decoder_tokens : trace.target_tokens;
}

std::vector<std::string> key_tokens(const Trace& trace, Stack stack) {
  if (stack != Stack::kDecoder) return trace.source_tokens;
  if (!trace.decoder_tokens.empty() || trace.target_tokens.empty()) return trace.decoder_tokens;
  std::vector<std::string> shifted{"<s>"};
  shifted.insert(shifted.end(), trace.target_tokens.begin(), trace.target_tokens.end() - 1);
  return shifted;
}

std::pair<const char*, const char*> axis_texts(const Trace& trace, Stack stack) {
  if (stack == Stack::kEncoder) return {"source", "source"};
  if (stack == Stack::kCross) return {"target", "source"};
  if (is_decoder_only(trace)) return {"text", "text"};
  return {"target", "previous target"};
}

std::pair<const char*, const char*> sentence_names(const Trace& trace) {
  if (trace.target_tokens.empty()) return {"text", "class"};
  return {"source", "target"};
}

void check_trace(const Trace& trace) {
  bool anything = false;
  for (const Stack stack : kStacks) {
    const StackWeights& layers = stack_of(trace, stack);
    const size_t queries = query_tokens(trace, stack).size(), keys = key_tokens(trace, stack).size();
    const auto where = [&](size_t layer, size_t head) {
      return fmt::format("{} layer {} head {}", stack_name(stack), layer + 1, head + 1);
    };
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      for (size_t head = 0; head < layers[layer].size(); ++head) {
        check_matrix(layers[layer][head], where(layer, head), queries, keys);
        anything = anything || !layers[layer][head].empty();
      }
    }
    const auto& details = trace.details[static_cast<size_t>(stack)];
    for (size_t layer = 0; layer < details.size(); ++layer) {
      for (size_t head = 0; head < details[layer].size(); ++head) {
        check_detail(details[layer][head], where(layer, head), queries, keys);
      }
    }
  }
  if (!anything) fail(ErrorKind::kUsage, "there is no attention to show: select a stack, layer or head");
}

AttentionSelection parse_selection(const std::string& stack, const std::string& layer,
                                   const std::string& head) {
  AttentionSelection selection;
  for (const Stack candidate : kStacks) {
    if (stack == stack_name(candidate)) selection.stack = candidate;
  }
  if (!selection.stack && stack != "all") {
    fail(ErrorKind::kUsage, "unknown stack '{}': choose encoder, decoder, cross or all", stack);
  }
  if (layer != "all") selection.layer = parse_number("layer", layer, "all");
  selection.mean = head == "mean";
  if (head != "all" && !selection.mean) selection.head = parse_number("head", head, "all, or mean");
  return selection;
}

Trace select(const Trace& trace, const AttentionSelection& selection) {
  Trace chosen = selection.mean ? mean_over_heads(trace) : trace;
  int layers_there = 0, heads_there = 0;
  for (const Stack stack : kStacks) {
    StackWeights& layers = stack_of(chosen, stack);
    auto& details = chosen.details[static_cast<size_t>(stack)];
    if (selection.stack && selection.stack != stack) {
      layers.clear();
      details.clear();
      continue;
    }
    for (size_t layer = 0; layer < details.size(); ++layer) {
      for (size_t head = 0; head < details[layer].size(); ++head) {
        const bool kept = (!selection.layer || static_cast<size_t>(*selection.layer) == layer) &&
                          (!selection.head || static_cast<size_t>(*selection.head) == head);
        if (!kept) details[layer][head] = {};
      }
    }
    layers_there = std::max(layers_there, static_cast<int>(layers.size()));
    heads_there = std::max(heads_there, count_heads(layers));
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      if (selection.layer && static_cast<size_t>(*selection.layer) != layer) layers[layer].clear();
      for (size_t head = 0; head < layers[layer].size(); ++head) {
        if (selection.head && static_cast<size_t>(*selection.head) != head) layers[layer][head] = {};
      }
    }
  }
  const std::string where = selection.stack ? stack_name(*selection.stack) : "model";
  if (layers_there == 0) {
    fail(ErrorKind::kUsage, "this model has no {} attention: choose another stack ({})", where,
         fmt::join(stacks_of(trace), ", "));
  }
  const std::string within = selection.stack ? where + " stack" : where;
  if (selection.layer) check_index("layer", *selection.layer, layers_there, within);
  if (selection.head) check_index("head", *selection.head, heads_there, within);
  return chosen;
}

Trace mean_over_heads(const Trace& trace) {
  Trace mean = trace;
  mean.heads_averaged = true;
  mean.details = {};
  for (const Stack stack : kStacks) {
    for (auto& layer : stack_of(mean, stack)) {
      if (!layer.empty()) layer = {mean_of(layer)};
    }
  }
  return mean;
}

namespace {

/// How clearly a matrix points at keys: the sum over queries of the largest weight on a key that counts.
double clearness(const AttentionMatrix& weights, Stack stack) {
  const auto counts = [&](int query, int key) {
    return stack == Stack::kCross ? key + 1 < weights.keys : key > 0 && key != query;
  };
  double sum = 0;
  for (int query = 0; query < weights.queries; ++query) {
    float largest = 0;
    for (int key = 0; key < weights.keys; ++key) {
      if (counts(query, key)) largest = std::max(largest, weights.at(query, key));
    }
    sum += largest;
  }
  return sum;
}

}  // namespace

int default_layer(const Trace& trace, Stack stack) {
  const auto layers = static_cast<int>(stack_of(trace, stack).size());
  const bool is_text = stack == Stack::kDecoder && trace.source_tokens.empty();
  if (stack != Stack::kCross && !is_text) return layers - 1;
  const Trace means = mean_over_heads(trace);
  int best = layers - 1;
  double clearest = -1;
  for (int layer = layers - 1; layer >= 0; --layer) {
    const auto& heads = stack_of(means, stack)[layer];
    if (heads.empty()) continue;
    const double sum = clearness(heads.front(), stack);
    if (sum > clearest) {
      clearest = sum;
      best = layer;
    }
  }
  return best;
}

}  // namespace heed
