// Test helper: artificial attention: near the diagonal, uniform, on the first and on the last key; causal in
// the decoder. And the numbers of packed traces.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "inspect/trace/trace.h"

namespace heed::testing {

/// Rows are softmaxes of four alternating kinds of scores; if causal, keys after the query get exactly 0.
inline AttentionMatrix make_matrix(int queries, int keys, int kind, bool causal) {
  AttentionMatrix matrix{queries, keys, {}};
  for (int query = 0; query < queries; ++query) {
    std::vector<double> row;
    double sum = 0;
    for (int key = 0; key < keys; ++key) {
      const double distance = key - static_cast<double>(query) * (keys - 1) / std::max(1, queries - 1);
      const double scores[] = {-distance * distance, -0.1 * distance * distance, key == 0 ? 3.0 : 0,
                               key == keys - 1 ? 3.0 : 0};
      row.push_back(causal && key > query ? 0 : std::exp(scores[kind % 4]));
      sum += row.back();
    }
    for (const double weight : row) matrix.weights.push_back(static_cast<float>(weight / sum));
  }
  return matrix;
}

inline Trace make_trace(std::vector<std::string> source, std::vector<std::string> target, int layers,
                        int heads) {
  Trace trace;
  trace.model = "test";
  trace.source_tokens = std::move(source);
  trace.target_tokens = std::move(target);
  for (const std::string& token : trace.source_tokens) trace.source += token;
  for (const std::string& token : trace.target_tokens) trace.target += token;
  for (const Stack stack : kStacks) {
    const int queries = static_cast<int>(query_tokens(trace, stack).size());
    const int keys = static_cast<int>(key_tokens(trace, stack).size());
    for (int layer = 0; layer < layers; ++layer) {
      auto& matrices = stack_of(trace, stack).emplace_back();
      for (int head = 0; head < heads; ++head) {
        matrices.push_back(make_matrix(queries, keys, layer + head, stack == Stack::kDecoder));
      }
    }
  }
  return trace;
}

/// n tokens from several scripts, some long, some in bytes.
inline std::vector<std::string> make_tokens(int count) {
  static const std::vector<std::string> kTokens{"\u2581Kannst",
                                                "\u2581du",
                                                "\u2581\u00FCbersetz",
                                                "en",
                                                "\u6211\u4EEC",
                                                "\u2581\u0645\u0631\u062D\u0628\u0627",
                                                "<0xF0>",
                                                "<0x9F>",
                                                "<0x98>",
                                                "<0x80>",
                                                "\u2581Donaudampfschifffahrtsgesellschaftskapit\u00E4n",
                                                ",",
                                                "\u0939\u093F\u0928\u094D\u0926\u0940",
                                                "\u2581",
                                                "\U0001F44D",
                                                "A\u0301\u0323",
                                                "<0xE4>",
                                                "gj\u00C5"};
  std::vector<std::string> tokens;
  for (int n = 0; n + 1 < count; ++n) tokens.emplace_back(kTokens[n % kTokens.size()]);
  tokens.push_back("</s>");
  return tokens;
}

/// Numbers in little-endian order.
template <typename Number>
std::vector<Number> from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255);
  }
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(Number));
  return numbers;
}

}  // namespace heed::testing
