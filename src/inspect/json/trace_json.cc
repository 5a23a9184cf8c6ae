#include "inspect/json/trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "inspect/json/json_lists.h"
#include "models/head_names.h"

namespace heed {
namespace {

using Json = nlohmann::json;
constexpr int kVersion = 1;

void append_matrix(const AttentionMatrix& matrix, std::string& json) {
  json += json_rows(matrix.weights, std::max(1, matrix.keys));
}

void append_stack(const StackWeights& layers, std::string& json) {
  json += '[';
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    json += layer == 0 ? "\n   [" : ",\n   [";
    for (size_t head = 0; head < layers[layer].size(); ++head) {
      if (head > 0) json += ",\n    ";
      append_matrix(layers[layer][head], json);
    }
    json += ']';
  }
  json += ']';
}

void append_rows(const std::vector<float>& numbers, int width, const char* name, std::string& json) {
  const int rows = static_cast<int>(numbers.size()) / width;
  json += fmt::format(",\n     \"{}\": ", name);
  append_matrix({rows, width, numbers}, json);
}

void append_detail(const HeadDetail& detail, int keys, std::string& json) {
  if (detail.empty()) {
    json += "null";
    return;
  }
  json += fmt::format("{{\"width\": {}, \"scale\": {}, \"cap\": {}", detail.width, detail.scale, detail.cap);
  append_rows(detail.query, detail.width, "query", json);
  append_rows(detail.key, detail.width, "key", json);
  append_rows(detail.value, detail.width, "value", json);
  append_rows(detail.scores, keys, "scores", json);
  if (!detail.bias.empty()) append_rows(detail.bias, keys, "bias", json);
  if (!detail.visible.empty())
    append_rows({detail.visible.begin(), detail.visible.end()}, keys, "visible", json);
  json += '}';
}

/// The member "details", where there are any.
std::string details_of(const Trace& trace) {
  std::string json;
  for (const Stack stack : kStacks) {
    const auto& layers = trace.details[static_cast<size_t>(stack)];
    if (layers.empty()) continue;
    json += fmt::format("{}\n  \"{}\": [", json.empty() ? "" : ",", stack_name(stack));
    const int keys = static_cast<int>(key_tokens(trace, stack).size());
    for (size_t layer = 0; layer < layers.size(); ++layer) {
      json += layer == 0 ? "\n   [" : ",\n   [";
      for (size_t head = 0; head < layers[layer].size(); ++head) {
        if (head > 0) json += ",\n    ";
        append_detail(layers[layer][head], keys, json);
      }
      json += ']';
    }
    json += ']';
  }
  return json.empty() ? "" : ",\n \"details\": {" + json + "\n }";
}

}  // namespace

std::string trace_to_json(const Trace& trace) {
  return trace_to_json(trace, {});
}

std::string trace_to_json(const Trace& trace, const TraceNotes& notes) {
  check_trace(trace);
  std::string further;
  for (const auto& [name, number] : notes.numbers)
    further += fmt::format(" {}: {},\n", json_text(name), Json(number).dump());
  if (notes.word_confidence)
    further += fmt::format(" \"word_confidence\": {},\n", Json(*notes.word_confidence).dump());
  if (notes.warnings) further += fmt::format(" \"warnings\": {},\n", json_texts(*notes.warnings));
  std::string json = fmt::format(
      "{{\n \"version\": {},\n \"model\": {},\n \"source\": {},\n \"target\": {},\n \"source_tokens\": {},\n"
      " \"target_tokens\": {},\n \"decoder_tokens\": {},\n \"heads\": \"{}\",\n{} \"attention\": {{",
      kVersion, json_text(trace.model), json_text(trace.source), json_text(trace.target),
      json_texts(trace.source_tokens), json_texts(trace.target_tokens),
      json_texts(key_tokens(trace, Stack::kDecoder)), trace.heads_averaged ? "mean" : "all", further);
  for (const Stack stack : kStacks) {
    json += fmt::format("{}\n  \"{}\": ", stack == kStacks[0] ? "" : ",", stack_name(stack));
    append_stack(stack_of(trace, stack), json);
  }
  json += "\n }";
  if (!trace.log_probabilities.empty())
    json += fmt::format(",\n \"log_probabilities\": [{}]", fmt::join(trace.log_probabilities, ","));
  return json + details_of(trace) + "\n}\n";
}

}  // namespace heed
