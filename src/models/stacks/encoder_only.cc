#include "models/stacks/encoder_only.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "models/config/config_checks.h"
#include "models/embedding_indices.h"
#include "models/stacks/encoder_heads.h"
#include "nn/positions/embedding.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"

namespace heed::models {
namespace {

void require(const EncoderOnlyConfig& c) {
  require_positive("an encoder", {{"vocabulary", c.vocabulary},
                                  {"width", c.width},
                                  {"number of layers", c.layers},
                                  {"feed-forward width", c.inner_width},
                                  {"maximum length", c.max_length}});
  if (!c.family->types.empty()) require_positive("an encoder", {{"number of token types", c.types}});
  HEED_CHECK(c.sliding.empty() || c.sliding.size() == static_cast<size_t>(c.layers));
  require_special_ids({c.padding_id}, c.vocabulary);
}

void require(const EncoderInput& input) {
  const Sequences& text = input.text;
  if (!input.types.empty() && input.types.size() != text.ids.size()) {
    fail(ErrorKind::kShape, "encoder: {} token types for {} tokens", input.types.size(), text.ids.size());
  }
  for (int b = 0; b < text.count(); ++b) {
    if (text[b].empty()) fail(ErrorKind::kUsage, "encoder: text {} has no tokens, not even special ones", b);
  }
}

/// T5's bidirectional buckets, as MPNet has them (Song et al., 2020).
nn::RelativePositions relative_bias(nn::ParameterTable& table, const std::string& name,
                                    const EncoderOnlyConfig& c) {
  const auto distances = ops::Distances::buckets({.table_rows = c.relative_rows});
  return {table, name, distances, c.heads};
}

nn::LayerOptions layer_options(const EncoderOnlyConfig& c, int layer, const nn::RelativePositions& relative) {
  const int64_t side = c.slides(layer) ? c.window : AttentionWindow::kUnlimited;
  return {.width = c.width,
          .heads = c.heads,
          .inner_width = c.inner_width,
          .activation = c.activation,
          .norm_first = c.norm_first,
          .dropout = c.dropout,
          .attention_output_dropout = c.attention_output_dropout,
          .feed_forward_output_dropout = c.feed_forward_output_dropout,
          .attention_dropout = c.attention_dropout,
          .activation_dropout = c.activation_dropout,
          .norm_epsilon = c.norm_epsilon,
          .norm_bias = c.norm_bias,
          .attention_bias = c.attention_bias,
          .window = {.left = side, .right = side},
          .relative = relative,
          .feed_forward_bias = c.feed_forward_bias};
}

Tensor counted_positions(int64_t size) {
  std::vector<float> positions(static_cast<size_t>(size));
  std::iota(positions.begin(), positions.end(), 0.0f);
  return Tensor::from(positions, {size});
}

}  // namespace

EncoderStack::EncoderStack(nn::ParameterTable& table, const EncoderOnlyConfig& config) : config_(config) {
  require(config);
  const EncoderOnlyFamily& family = *config.family;
  const std::string prefix = config.head == EncoderHead::kNone ? "" : family.prefix;
  const auto embedding = [&](const std::string& name, int64_t rows) {
    return table.add({prefix + name + ".weight",
                      {rows, config.width},
                      {nn::Initialization::Kind::kNormal, config.deviation},
                      {}});
  };
  words_ = embedding(family.words, config.vocabulary);
  table.set_fewest_bits(words_.first, 8);
  if (!family.positions.empty()) {
    positions_ = embedding(family.positions, config.max_length + config.position_padding_id + 1);
  }
  if (!family.types.empty()) type_table_ = embedding(family.types, config.types);
  const nn::Norm::Options norm{.epsilon = config.norm_epsilon, .bias = config.norm_bias};
  embedding_norm_ = nn::Norm(table, prefix + family.embedding_norm, config.width, norm);
  nn::RelativePositions relative;
  if (!family.relative_bias.empty()) relative = relative_bias(table, prefix + family.relative_bias, config);
  for (int n = 0; n < config.layers; ++n) {
    nn::LayerNames names = family.layer_names;
    if (n == 0) names.self_attention_norm.norm = family.first_attention_norm;
    layers_.emplace_back(table, fmt::format("{}{}{}.", prefix, family.layer, n),
                         layer_options(config, n, relative), n, names);
  }
  if (!family.final_norm.empty()) {
    final_norm_.emplace(table, prefix + family.final_norm, config.width, norm);
  }
  accept_other_names(table, prefix);
}

/// Files hold the encoder's parameters with the family's prefix or without it.
void EncoderStack::accept_other_names(nn::ParameterTable& table, const std::string& prefix) const {
  const EncoderOnlyFamily& family = *config_.family;
  const auto other = [&](const std::string& name) {
    return prefix.empty() ? family.prefix + name : name.substr(prefix.size());
  };
  for (int row = 0; row < table.size(); ++row) {
    const std::vector<std::string> aliases = table[row].aliases;
    table.add_alias(row, other(table[row].name));
    for (const std::string& alias : aliases) table.add_alias(row, other(alias));
  }
  for (const std::string& each : {std::string(), family.prefix}) {
    for (const std::string& part : family.left_out) table.ignore_prefix(each + part);
    if (!family.positions.empty()) {
      table.expect({.name = each + "embeddings.position_ids", .values = counted_positions});
    }
  }
}

/// The row of each token's position. Positions do not count padding inside of a text.
std::vector<int32_t> EncoderStack::position_rows(const Sequences& text) const {
  std::vector<int32_t> rows = positions_in(text, config_.max_length);
  const int32_t padding = config_.position_padding_id;
  if (padding < 0) return rows;
  for (int b = 0; b < text.count(); ++b) {
    int32_t next = padding + 1;
    for (int32_t n = text.offsets[b]; n < text.offsets[b + 1]; ++n) {
      rows[n] = text.ids[n] == padding ? padding : next++;
    }
  }
  return rows;
}

std::vector<int32_t> EncoderStack::types_of(const EncoderInput& input) const {
  std::vector<int32_t> types = input.types;
  types.resize(input.text.ids.size());
  if (!config_.reads_types) std::fill(types.begin(), types.end(), 0);
  for (const int32_t type : types) {
    if (type < 0 || type >= config_.types) {
      fail(ErrorKind::kUsage, "the model has {} token types, so token type {} is invalid", config_.types,
           type);
    }
  }
  return types;
}

Var EncoderStack::embed(nn::Context& context, const EncoderInput& input) const {
  ops::EmbeddingOptions words;
  words.padding_id = config_.padding_id;
  Var x = nn::token_embedding(context, Stack::kEncoder, words_, input.text.ids, words);  // (N, D)
  if (positions_.defined()) {
    const Tensor rows = id_tensor(position_rows(input.text));
    x = ops::add(x, ops::embedding(context.parameter(positions_), rows));  // (N, D)
  }
  if (type_table_.defined()) {
    const Tensor types = id_tensor(types_of(input));
    x = ops::add(x, ops::embedding(context.parameter(type_table_), types));  // (N, D)
  }
  x = embedding_norm_.forward(context, x);  // (N, D)
  x = ops::dropout(x, context.next_dropout(config_.embedding_dropout));
  return context.pass({Stack::kEncoder, nn::StateKind::kResidual}, std::move(x));
}

Var EncoderStack::forward(nn::Context& context, const EncoderInput& input) const {
  require(input);
  const auto layout = ops::AttentionLayout::packed(input.text.offsets, input.text.offsets);
  Var x = embed(context, input);  // (N, D)
  std::optional<ops::RotaryAngles> angles, sliding_angles;
  if (!positions_.defined()) {
    const std::vector<int32_t> positions = positions_in(input.text, config_.max_length);
    const auto angles_of = [&](const Rotary& rotary) {
      return ops::rotary_angles(positions, {.head_width = config_.width / config_.heads,
                                            .base = rotary.base,
                                            .scaling = rotary.scaling,
                                            .dtype = x.dtype()});
    };
    angles = angles_of(config_.rotary);
    sliding_angles = config_.sliding_rotary == config_.rotary ? angles : angles_of(config_.sliding_rotary);
  }
  for (size_t n = 0; n < layers_.size(); ++n) {
    const auto& own = config_.slides(static_cast<int>(n)) ? sliding_angles : angles;
    x = layers_[n].forward(context, x, layout, {.angles = own ? &*own : nullptr});
  }
  return context.pass({Stack::kEncoder, nn::StateKind::kOutput}, final_norm(context, x));
}

Var EncoderStack::final_norm(nn::Context& context, const Var& x) const {
  return final_norm_ ? final_norm_->forward(context, x) : x;
}

EncoderOnly::EncoderOnly(const EncoderOnlyConfig& config) : WithEncoderStack(config) {
  HEED_CHECK(config.head == EncoderHead::kNone);
  const EncoderOnlyFamily& family = *config.family;
  for (const std::string& name : {family.classifier.dense, family.classifier.norm, family.classifier.output,
                                  family.vocabulary.dense, family.vocabulary.norm, family.vocabulary.weight,
                                  family.vocabulary.bias, family.vocabulary.other_bias}) {
    if (!name.empty()) table_.ignore_prefix(name);
  }
  for (const std::string& part : family.vocabulary.left_out) table_.ignore_prefix(part);
}

std::unique_ptr<Model> make_encoder_only(const EncoderOnlyConfig& config) {
  switch (config.head) {
    case EncoderHead::kNone:
      return std::make_unique<EncoderOnly>(config);
    case EncoderHead::kClassifier:
      return std::make_unique<EncoderClassifier>(config);
    case EncoderHead::kVocabulary:
      return std::make_unique<EncoderMaskedLm>(config);
  }
  HEED_CHECK(false);
}

}  // namespace heed::models
