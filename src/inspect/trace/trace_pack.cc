#include "inspect/trace/trace_pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "base/text/base64.h"
#include "models/head_names.h"
#include "tensor/half.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little);

template <typename Number>
std::string packed(const std::vector<Number>& numbers) {
  return to_base64(numbers.data(), numbers.size() * sizeof(Number));
}

/// Appends each row divided by its scale, the largest magnitude / 127, and the scales.
void append_vectors(const std::vector<float>& vectors, int width, std::vector<int8_t>& bytes,
                    std::vector<float>& scales) {
  for (size_t row = 0; row < vectors.size(); row += width) {
    const std::span<const float> vector(vectors.data() + row, width);
    float largest = 0;
    for (const float number : vector) largest = std::max(largest, std::abs(number));
    const float scale = largest == 0 ? 1 : largest / 127;
    scales.push_back(scale);
    for (const float number : vector) bytes.push_back(static_cast<int8_t>(std::lround(number / scale)));
  }
}

/// ln(sum of exp(score)) over the keys that the mask leaves: those with a weight, or with the largest score.
float log_sum_exp(const AttentionMatrix& matrix, const HeadDetail& detail, int query) {
  // weight = exp(score - log_sum_exp), so the key with the largest weight gives it with the least rounding.
  const size_t row = static_cast<size_t>(query) * matrix.keys;
  const auto first = matrix.weights.begin() + static_cast<std::ptrdiff_t>(row);
  const auto largest = static_cast<size_t>(std::max_element(first, first + matrix.keys) - first);
  const float weight = matrix.weights[row + largest];
  return weight > 0 ? detail.scores[row + largest] - std::log(weight) : 0;
}

Json pack_head(const AttentionMatrix& matrix, const HeadDetail* detail) {
  if (matrix.empty()) return nullptr;
  std::vector<uint16_t> weights;
  for (const float weight : matrix.weights) weights.push_back(float_to_half(weight));
  Json head{{"weights", packed(weights)}};
  if (detail == nullptr || detail->empty()) return head;
  std::vector<float> rows;
  std::vector<int8_t> vectors;
  for (int query = 0; query < matrix.queries; ++query) rows.push_back(log_sum_exp(matrix, *detail, query));
  for (const auto* part : {&detail->query, &detail->key, &detail->value}) {
    append_vectors(*part, detail->width, vectors, rows);
  }
  head["width"] = detail->width;
  head["scale"] = detail->scale;
  head["rows"] = packed(rows);
  head["vectors"] = packed(vectors);
  return head;
}

Json pack_stack(const Trace& trace, Stack stack) {
  Json packed = Json::array();
  const StackWeights& layers = stack_of(trace, stack);
  const auto& details = trace.details[static_cast<size_t>(stack)];
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    Json heads = Json::array();
    for (size_t head = 0; head < layers[layer].size(); ++head) {
      const bool detailed = layer < details.size() && head < details[layer].size();
      heads.push_back(pack_head(layers[layer][head], detailed ? &details[layer][head] : nullptr));
    }
    packed.push_back(std::move(heads));
  }
  return packed;
}

Json valid_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(replace_invalid_utf8(text));
  return list;
}

}  // namespace

std::string pack_trace(const Trace& trace) {
  return pack_trace(trace, {});
}

std::string pack_trace(const Trace& trace, const TraceNotes& notes) {
  check_trace(trace);
  Json json{{"version", 1},
            {"model", replace_invalid_utf8(trace.model)},
            {"source", replace_invalid_utf8(trace.source)},
            {"target", replace_invalid_utf8(trace.target)},
            {"source_tokens", valid_texts(trace.source_tokens)},
            {"target_tokens", valid_texts(trace.target_tokens)},
            {"decoder_tokens", valid_texts(key_tokens(trace, Stack::kDecoder))},
            {"heads", trace.heads_averaged ? "mean" : "all"}};
  if (!trace.log_probabilities.empty()) json["log_probabilities"] = trace.log_probabilities;
  if (!trace.source_words.empty()) json["source_words"] = trace.source_words;
  for (const auto& [name, number] : notes.numbers) json[name] = number;
  if (notes.word_confidence) json["word_confidence"] = *notes.word_confidence;
  if (notes.warnings) json["warnings"] = valid_texts(*notes.warnings);
  for (const Stack stack : kStacks) json["packed"][stack_name(stack)] = pack_stack(trace, stack);
  return json.dump();
}

}  // namespace heed
