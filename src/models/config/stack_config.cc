#include "models/config/stack_config.h"

#include <fmt/format.h>

namespace heed::models {

void apply_settings(const ModelSettings& s, StackConfig& c) {
  c.vocabulary = s.vocabulary;
  c.width = s.width;
  c.activation = s.activation;
  c.max_length = s.max_length;
  c.dropout = s.dropout;
  c.attention_dropout = s.attention_dropout;
  c.padding_id = s.padding_id;
}

void apply_settings(const ModelSettings& s, SingleStackConfig& c) {
  apply_settings(s, static_cast<StackConfig&>(c));
  c.layers = s.layers;
  c.heads = s.heads;
  c.inner_width = s.inner_width;
  c.embedding_dropout = s.dropout;
}

void describe_sizes(ConfigFields& fields, SingleStackConfig& c, const StackKeys& keys) {
  fields.integer("vocab_size", c.vocabulary, kVocabularySizes);
  fields.integer(keys.width, c.width, {1, 1 << 16});
  fields.integer(keys.layers, c.layers, kLayerCounts);
  fields.integer(keys.heads, c.heads, kHeadCounts);
}

void require_whole_heads(ConfigFields& fields, const StackConfig& c, const std::string& width_key,
                         const std::vector<std::string>& head_keys) {
  fields.derive([&](const JsonObject& json) {
    for (const std::string& key : head_keys) {
      if (c.width % json.integer(key) == 0) continue;
      json.reject(key, fmt::format("a number that divides {} ({})", width_key, c.width));
    }
  });
}

}  // namespace heed::models
