#include "models/stacks/decoder_only.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "models/config/config_checks.h"
#include "models/embedding_indices.h"
#include "models/stacks/cache_rows.h"
#include "nn/linear.h"
#include "nn/positions/embedding.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"

namespace heed::models {
namespace {

void require(const DecoderOnlyConfig& c) {
  require_positive("a language model", {{"vocabulary", c.vocabulary},
                                        {"width", c.width},
                                        {"number of layers", c.layers},
                                        {"feed-forward width", c.inner_width},
                                        {"maximum length", c.max_length}});
  if (!c.sliding.empty()) {
    require_positive("a language model", {{"window", c.window}});
    HEED_CHECK(c.sliding.size() == static_cast<size_t>(c.layers));
  }
  require_special_ids({c.start_id, c.end_id, c.padding_id}, c.vocabulary, true);
}

double score_scale(const DecoderOnlyConfig& c, int layer) {
  double scale = c.scaled_scores ? 1 / std::sqrt(static_cast<double>(c.actual_head_width())) : 1;
  if (c.score_scale > 0) scale = c.score_scale;
  return c.scaled_by_layer ? scale / (layer + 1) : scale;
}

nn::LayerOptions layer_options(const DecoderOnlyConfig& c, int layer) {
  return {.stack = Stack::kDecoder,
          .causal = true,
          .width = c.width,
          .heads = c.heads,
          .inner_width = c.inner_width,
          .activation = c.activation,
          .norm_first = true,
          .dropout = c.dropout,
          .attention_dropout = c.attention_dropout,
          .norm_epsilon = c.norm_epsilon,
          .norm = c.family->norm,
          .norm_weight_offset = c.family->norm_weight_offset,
          .head_width = c.head_width,
          .key_value_heads = c.key_value_heads,
          .attention_scale = score_scale(c, layer),
          .score_cap = c.score_cap,
          .attention_bias = c.attention_bias,
          .attention_output_bias = c.attention_output_bias,
          .window = {.left = c.slides(layer) ? c.window - 1 : AttentionWindow::kUnlimited},
          .feed_forward_bias = c.feed_forward_bias};
}

}  // namespace

DecoderOnly::DecoderOnly(const DecoderOnlyConfig& config) : config_(config) {
  require(config);
  const DecoderOnlyFamily& family = *config.family;
  embedding_ = table_.add({family.embedding + ".weight", {config.vocabulary, config.width}, {}, {}});
  if (!family.positions.empty()) {
    positions_ = table_.add({family.positions + ".weight", {config.max_length, config.width}, {}, {}});
  }
  for (int n = 0; n < config.layers; ++n) {
    layers_.emplace_back(table_, fmt::format("{}{}.", family.layer, n), layer_options(config, n), n,
                         family.layer_names);
  }
  const nn::LayerOptions options = layer_options(config, 0);
  table_.set_fewest_bits(embedding_.first, 8);
  final_norm_ = nn::Norm(table_, family.final_norm, config.width,
                         {options.norm, options.norm_epsilon, options.norm_weight_offset});
  nn::ParamRef output = embedding_;
  if (!config.tied_output) {
    output = table_.add({family.output + ".weight", {config.vocabulary, config.width}, {}, {}});
    table_.set_fewest_bits(output.first, 8);
  }
  output_ = nn::Linear(table_, output);
  follow_family();
}

/// How parameters begin, and how files hold them. Each layer adds two outputs to the residual, 2 L in all;
/// their matrices begin smaller by sqrt(2 L), so that the sum does not grow with the number of layers
/// (Radford et al., 2019).
void DecoderOnly::follow_family() {
  const DecoderOnlyFamily& family = *config_.family;
  const double residual = config_.deviation / std::sqrt(2.0 * config_.layers);
  for (int row = 0; row < table_.size(); ++row) {
    const std::string name = table_[row].name;
    if (table_[row].shape.rank() == 2) {
      const bool adds = name.ends_with(family.layer_names.self_attention.output + ".weight") ||
                        name.ends_with(family.layer_names.second + ".weight");
      table_.begin(row, {nn::Initialization::Kind::kNormal, adds ? residual : config_.deviation});
      if (family.transposed_layers && name.starts_with(family.layer)) table_.set_transposed(row);
    }
    const std::string& prefix = family.optional_prefix;
    if (!prefix.empty() && name.starts_with(prefix)) table_.add_alias(row, name.substr(prefix.size()));
  }
  if (config_.tied_output) table_.add_alias(embedding_.first, family.output + ".weight");
  expect_computed();
}

namespace {

/// 1 for what a position sees of the n in (..., n, n), itself and what is before it.
Tensor look_ahead_values(int64_t size) {
  const auto n = static_cast<int64_t>(std::sqrt(static_cast<double>(size)));
  std::vector<float> seen(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) seen[i] = n > 0 && i % n <= i / n ? 1 : 0;
  return Tensor::from(seen, {size});
}

/// The first `size` frequencies.
Tensor rotary_frequencies(int64_t size, const Rotary& rotary, int64_t head_width) {
  const std::vector<double> all = ops::rotary_frequencies(head_width, rotary.base);
  std::vector<float> values;
  for (int64_t k = 0; k < size; ++k) {
    values.push_back(k < static_cast<int64_t>(all.size()) ? static_cast<float>(all[static_cast<size_t>(k)])
                                                          : 0);
  }
  return Tensor::from(values, {size});
}

}  // namespace

void DecoderOnly::expect_computed() {
  const DecoderOnlyFamily& family = *config_.family;
  for (int n = 0; n < config_.layers; ++n) {
    std::vector<std::string> prefixes{fmt::format("{}{}.", family.layer, n)};
    if (!family.optional_prefix.empty())
      prefixes.push_back(prefixes[0].substr(family.optional_prefix.size()));
    for (const std::string& prefix : prefixes) {
      for (const std::string& tensor : family.left_out) table_.ignore_prefix(prefix + tensor);
      if (!family.mask.empty()) table_.expect({.name = prefix + family.mask, .values = look_ahead_values});
      if (family.frequencies.empty()) continue;
      const Rotary& rotary = config_.rotary_of(n);
      if (rotary.scaling.kind != ops::RotaryScaling::Kind::kNone) {  // some versions scale what they store
        table_.ignore_prefix(prefix + family.frequencies);
        continue;
      }
      table_.expect({.name = prefix + family.frequencies,
                     .values = [rotary, head_width = config_.actual_head_width()](
                                   int64_t size) { return rotary_frequencies(size, rotary, head_width); },
                     .tolerance = 1.0 / 256});  // bfloat16 below 1
    }
  }
}

// ---- All positions at once -------------------------------------------------------------------------------

Var DecoderOnly::embed(nn::Context& context, const std::vector<int32_t>& ids,
                       const std::vector<int32_t>& positions) const {
  ops::EmbeddingOptions options;
  options.scale = config_.embedding_scale;
  Var x = nn::token_embedding(context, Stack::kDecoder, embedding_, ids, options);  // (N, D)
  if (positions_.defined()) {
    x = ops::add(x, ops::embedding(context.parameter(positions_), id_tensor(positions)));  // (N, D)
  }
  x = ops::dropout(x, context.next_dropout(config_.embedding_dropout));
  return context.pass({Stack::kDecoder, nn::StateKind::kResidual}, std::move(x));
}

DecoderOnly::Angles DecoderOnly::angles(const std::vector<int32_t>& positions, DType dtype) const {
  if (positions_.defined()) return {};
  const auto of = [&](const Rotary& rotary) {
    return ops::rotary_angles(positions, {.head_width = config_.actual_head_width(),
                                          .base = rotary.base,
                                          .scaling = rotary.scaling,
                                          .dtype = dtype});
  };
  const auto& sliding = config_.sliding;
  Angles angles;
  if (sliding.empty() || std::find(sliding.begin(), sliding.end(), false) != sliding.end()) {
    angles.full = of(config_.rotary);
  }
  if (sliding.empty()) return angles;
  const bool same = angles.full && config_.sliding_rotary == config_.rotary;
  angles.sliding = same ? angles.full : of(config_.sliding_rotary);
  return angles;
}

const ops::RotaryAngles* DecoderOnly::angles_of(const Angles& angles, size_t layer) const {
  const auto& own = config_.slides(static_cast<int>(layer)) ? angles.sliding : angles.full;
  return own ? &*own : nullptr;
}

Var DecoderOnly::forward(nn::Context& context, const Sequences& text, const Kept& kept) const {
  const std::vector<int32_t> positions = positions_in(text, config_.max_length);
  const auto layout = ops::AttentionLayout::packed(text.offsets, text.offsets);
  Var x = embed(context, text.ids, positions);  // (N, D)
  const auto turns = angles(positions, x.dtype());
  for (size_t n = 0; n < layers_.size(); ++n) {
    nn::KeyValueCache* cache = kept.layers == nullptr ? nullptr : &(*kept.layers)[n].self;
    x = layers_[n].forward(context, x, layout, {angles_of(turns, n), cache, kept.rows});
  }
  return finish(context, x);
}

Var DecoderOnly::final_norm(nn::Context& context, const Var& x) const {
  return final_norm_.forward(context, x);
}

Var DecoderOnly::finish(nn::Context& context, const Var& x) const {
  return context.pass({Stack::kDecoder, nn::StateKind::kOutput}, final_norm(context, x));
}

Var DecoderOnly::hidden(nn::Context& context, const Sequences& text) const {
  return forward(context, text, {});
}

ops::VocabularyLoss DecoderOnly::loss(nn::Context& context, const Sequences& text,
                                      const std::vector<int32_t>& labels,
                                      const ops::CrossEntropyOptions& options) const {
  ops::CrossEntropyOptions capped = options;
  capped.logit_cap = config_.logit_cap;
  return output_.vocabulary_loss(context, hidden(context, text), id_tensor(labels), capped);
}

Var DecoderOnly::vocabulary_logits(nn::Context& context, const Var& hidden) const {
  const Var logits = output_.forward(context, hidden);  // (N, D) -> (N, V)
  return config_.logit_cap > 0 ? ops::soft_cap(logits, config_.logit_cap) : logits;
}

Tensor DecoderOnly::logits(nn::Context& context, const Sequences& text) const {
  return vocabulary_logits(context, hidden(context, text)).value();
}

// ---- One position at a time ------------------------------------------------------------------------------

namespace {

struct State : DecoderState {
  CacheRows rows;
  std::vector<nn::LayerState> layers;
};

}  // namespace

std::unique_ptr<DecoderState> DecoderOnly::start(nn::Context&) const {
  auto state = std::make_unique<State>();
  state->layers.resize(layers_.size());
  return state;
}

/// The whole prompt at once but for its last word, which the first step reads.
std::vector<int32_t> DecoderOnly::admit(nn::Context& context, DecoderState& decoder_state,
                                        const Sequences& text) const {
  auto& state = dynamic_cast<State&>(decoder_state);
  std::vector<int32_t> numbers;
  Sequences prompts;
  Kept kept{&state.layers};
  for (int b = 0; b < text.count(); ++b) {
    const auto prompt = text[b];
    if (prompt.empty()) fail(ErrorKind::kUsage, "a language model needs a prompt of at least one token");
    numbers.push_back(state.rows.admit(static_cast<int32_t>(prompt.size()) - 1));
    if (prompt.size() == 1) continue;
    prompts.append(prompt.first(prompt.size() - 1));
    const auto rows = state.rows.prompt(numbers.back());
    kept.rows.insert(kept.rows.end(), rows.begin(), rows.end());
  }
  if (prompts.count() == 0) return numbers;
  for (size_t n = 0; n < layers_.size(); ++n) {
    state.layers[n].self.reserve(state.rows.size(), layers_[n].key_value_width(), nn::cached_type(context));
  }
  forward(context, prompts, kept);
  return numbers;
}

void DecoderOnly::release(DecoderState& state, int32_t sentence) const {
  dynamic_cast<State&>(state).rows.release(sentence);
}

Tensor DecoderOnly::step(nn::Context& context, DecoderState& decoder_state,
                         const std::vector<StepRow>& rows) const {
  auto& state = dynamic_cast<State&>(decoder_state);
  const CacheRows::Step step = state.rows.step(rows);
  Var x = embed(context, step.ids, step.positions);  // (R, D)
  const auto turns = angles(step.positions, x.dtype());
  for (size_t n = 0; n < layers_.size(); ++n) {
    state.layers[n].self.reserve(state.rows.size(), layers_[n].key_value_width(), nn::cached_type(context));
    x = layers_[n].step(context, x, state.layers[n], {.self = step.layout, .angles = angles_of(turns, n)});
  }
  return vocabulary_logits(context, finish(context, x)).value();  // (R, V)
}

}  // namespace heed::models
