#include "inspect/json/trace_pack.h"

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

/// ln(sum of exp(score)) over the keys that the mask leaves.
float log_sum_exp(const AttentionMatrix& matrix, const HeadDetail& detail, int query) {
  // weight = exp(score - log_sum_exp), so the key with the largest weight gives it with the least rounding.
  const size_t row = static_cast<size_t>(query) * matrix.keys;
  const auto first = matrix.weights.begin() + static_cast<std::ptrdiff_t>(row);
  const auto largest = static_cast<size_t>(std::max_element(first, first + matrix.keys) - first);
  const float weight = matrix.weights[row + largest];
  return weight > 0 ? detail.scores[row + largest] - std::log(weight) : 0;
}

std::vector<uint16_t> halves(const std::vector<float>& numbers) {
  std::vector<uint16_t> halves;
  for (const float number : numbers) halves.push_back(float_to_half(number));
  return halves;
}

/// q k^T minus the product of the vectors that `bytes` and `scales` hold, of the pairs for which the page
/// needs it.
std::vector<float> corrections_of(const AttentionMatrix& matrix, const HeadDetail& detail,
                                  const std::vector<int8_t>& bytes, const std::vector<float>& scales) {
  constexpr float kLeastNormalHalf = 0x1p-14F;
  const int width = detail.width;
  std::vector<float> corrections;
  for (int query = 0; query < matrix.queries; ++query) {
    for (int key = 0; key < matrix.keys; ++key) {
      const float weight = half_to_float(float_to_half(matrix.at(query, key)));
      if (detail.cap == 0 && weight >= kLeastNormalHalf) continue;
      const int key_row = matrix.queries + key;  // of bytes and scales
      const float* q = detail.query.data() + static_cast<size_t>(query) * width;
      const float* k = detail.key.data() + static_cast<size_t>(key) * width;
      const int8_t* rounded_q = bytes.data() + static_cast<size_t>(query) * width;
      const int8_t* rounded_k = bytes.data() + static_cast<size_t>(key_row) * width;
      double product = 0;
      int rounded = 0;
      for (int n = 0; n < width; ++n) {
        product += static_cast<double>(q[n]) * static_cast<double>(k[n]);
        rounded += rounded_q[n] * rounded_k[n];
      }
      const double scale = static_cast<double>(scales[query]) * static_cast<double>(scales[key_row]);
      corrections.push_back(static_cast<float>(product - scale * rounded));
    }
  }
  return corrections;
}

/// The bias of each distance from 1 - queries to keys - 1; empty where that is not all it depends on.
std::vector<float> bias_of_distances(const std::vector<float>& bias, int queries, int keys) {
  std::vector<float> distances(queries + keys - 1);
  for (int query = 0; query < queries; ++query) {
    for (int key = 0; key < keys; ++key) {
      const float number = bias[static_cast<size_t>(query) * keys + key];
      float& known = distances[key - query + queries - 1];
      if (query == 0 || key == 0) {
        known = number;
      } else if (known != number) {
        return {};
      }
    }
  }
  return distances;
}

void pack_bias(const std::vector<float>& bias, const AttentionMatrix& matrix, Json& head) {
  if (bias.empty()) return;
  const std::vector<float> distances = bias_of_distances(bias, matrix.queries, matrix.keys);
  if (distances.empty()) {
    head["bias"] = packed(halves(bias));
  } else {
    head["distances"] = packed(distances);
  }
}

void pack_hidden(const std::vector<uint8_t>& visible, Json& head) {
  if (visible.empty()) return;
  std::vector<uint8_t> bits((visible.size() + 7) / 8);
  for (size_t n = 0; n < visible.size(); ++n)
    if (visible[n] == 0) bits[n / 8] = static_cast<uint8_t>(bits[n / 8] | 1U << n % 8);
  head["hidden"] = packed(bits);
}

Json pack_head(const AttentionMatrix& matrix, const HeadDetail* detail) {
  if (matrix.empty()) return nullptr;
  Json head{{"weights", packed(halves(matrix.weights))}};
  if (detail == nullptr || detail->empty()) return head;
  std::vector<float> rows, scales;
  std::vector<int8_t> vectors, corrections;
  for (int query = 0; query < matrix.queries; ++query) rows.push_back(log_sum_exp(matrix, *detail, query));
  for (const auto* part : {&detail->query, &detail->key, &detail->value}) {
    append_vectors(*part, detail->width, vectors, scales);
  }
  const std::vector<float> products = corrections_of(matrix, *detail, vectors, scales);
  if (!products.empty()) {
    append_vectors(products, static_cast<int>(products.size()), corrections, scales);
    head["corrections"] = packed(corrections);
  }
  rows.insert(rows.end(), scales.begin(), scales.end());
  head["width"] = detail->width;
  head["scale"] = detail->scale;
  if (detail->cap != 0) head["cap"] = detail->cap;
  head["rows"] = packed(rows);
  head["vectors"] = packed(vectors);
  pack_bias(detail->bias, matrix, head);
  pack_hidden(detail->visible, head);
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
  if (!trace.decoder_words.empty()) json["decoder_words"] = trace.decoder_words;
  if (trace.word_pieces) json["word_pieces"] = true;
  for (const auto& [name, number] : notes.numbers) json[name] = number;
  if (notes.word_confidence) json["word_confidence"] = *notes.word_confidence;
  if (notes.warnings) json["warnings"] = valid_texts(*notes.warnings);
  for (const Stack stack : kStacks) json["packed"][stack_name(stack)] = pack_stack(trace, stack);
  return json.dump();
}

}  // namespace heed
