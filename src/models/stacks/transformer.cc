#include "models/stacks/transformer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "models/config/config_checks.h"
#include "models/config/transformer_config.h"
#include "models/embedding_indices.h"
#include "models/row_ranges.h"
#include "models/stacks/cache_rows.h"
#include "nn/linear.h"
#include "nn/positions/embedding.h"
#include "ops/elementwise.h"
#include "ops/scale.h"

namespace heed::models {

namespace {

void require(const TransformerConfig& c) {
  require_positive("a Transformer",
                   {{"vocabulary", std::min(c.vocabulary, c.source_vocabulary)},
                    {"d_model", c.width},
                    {"number of encoder layers", c.encoder_layers},
                    {"number of decoder layers", c.decoder_layers},
                    {"feed-forward width", std::min(c.encoder_inner_width, c.decoder_inner_width)},
                    {"maximum length", c.max_length}});
  if (c.share_embeddings) require_shared_vocabulary(c.source_vocabulary, c.vocabulary);
  if (c.positions.kind == nn::PositionKind::kLearned && c.max_length * c.width > int64_t{1} << 28) {
    fail(ErrorKind::kUsage, "{} positions of width {} exceed the supported size", c.max_length, c.width);
  }
  HEED_CHECK(c.first_row == 0 || c.positions.kind == nn::PositionKind::kLearned ||
             c.frequencies == nn::SinusoidFrequencies::kByHalves);
  require_special_ids({c.padding_id, c.end_id, c.start_id}, c.vocabulary);
}

nn::LayerOptions layer_options(const TransformerConfig& c, int heads, int64_t inner_width) {
  return {.width = c.width,
          .heads = heads,
          .inner_width = inner_width,
          .activation = c.activation,
          .norm_first = c.norm_first,
          .dropout = c.dropout,
          .attention_dropout = c.attention_dropout,
          .activation_dropout = c.activation_dropout,
          .norm_epsilon = c.norm_epsilon,
          .norm = c.norm,
          .head_width = c.head_width,
          .attention_scale = c.score_scale,
          .attention_bias = c.attention_bias,
          .feed_forward_bias = c.feed_forward_bias};
}

nn::StackPositions::Shape positions_shape(const TransformerConfig& c, int heads, bool bidirectional) {
  return {.width = c.width,
          .heads = heads,
          .max_length = c.max_length,
          .bidirectional = bidirectional,
          .head_width = c.head_width,
          .first_row = c.first_row,
          .frequencies = c.frequencies,
          .padding_id = c.padding_has_position ? -1 : c.padding_id,
          .stack = bidirectional ? Stack::kEncoder : Stack::kDecoder};
}

/// Embeddings are multiplied by sqrt(D), so this standard deviation gives them unit variance.
nn::Initialization embedding_initialisation(const TransformerConfig& c) {
  return {nn::Initialization::Kind::kNormal, std::pow(static_cast<double>(c.width), -0.5)};
}

/// Depth-scaled initialization (Zhang, Titov and Sennrich, "Improving Deep Transformer with Depth-Scaled
/// Initialization and Merged Attention", 2019): scales the initial weights of layer l, counted from 1, by
/// 1/sqrt(l), so that gradients pass through deep post-norm stacks.
void scale_layer(nn::ParameterTable& table, int first_row, int layer) {
  for (int row = first_row; row < table.size(); ++row) {
    if (table[row].initialization.kind != nn::Initialization::Kind::kXavier) continue;
    table.begin(row, {nn::Initialization::Kind::kXavier, 1 / std::sqrt(layer + 1.0)});
  }
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config) : config_(config) {
  if (config_.source_vocabulary == 0) config_.source_vocabulary = config.vocabulary;
  require(config_);
  add_embeddings();
  // Registers one stack; `options` has what its layers have in common.
  const auto add_stack = [&](const StackNames& names, Embedding& embedding, nn::LayerOptions options,
                             int layers, std::vector<nn::TransformerLayer>& stack) {
    embedding.stack = options.stack;
    const nn::Norm::Options norm{config.norm, config.norm_epsilon};
    embedding.positions = nn::StackPositions(table_, names.positions, config.positions,
                                             positions_shape(config, options.heads, !options.causal));
    if (!names.embedding_norm.empty()) {
      embedding.norm.emplace(table_, names.embedding_norm, config.width, norm);
    }
    for (int n = 0; n < layers; ++n) {
      const std::string prefix = fmt::format("{}{}.", names.layer, n);
      options.relative = embedding.positions.of_layer(table_, prefix + "self_attn.");
      const int first_row = table_.size();
      stack.emplace_back(table_, prefix, options, n, names.layer_names);
      if (config.depth_scaled_init) scale_layer(table_, first_row, n);
    }
  };
  const TransformerFamily& family = *config.family;
  add_stack(family.encoder, source_, layer_options(config, config.encoder_heads, config.encoder_inner_width),
            config.encoder_layers, encoder_);
  auto decoder_options = layer_options(config, config.decoder_heads, config.decoder_inner_width);
  decoder_options.stack = Stack::kDecoder;
  decoder_options.causal = decoder_options.cross_attention = true;
  add_stack(family.decoder, target_, decoder_options, config.decoder_layers, decoder_);
  if (config.norm_first) {
    const nn::Norm::Options norm{config.norm, config.norm_epsilon};
    encoder_norm_ = nn::Norm(table_, family.encoder.final_norm, config.width, norm);
    decoder_norm_ = nn::Norm(table_, family.decoder.final_norm, config.width, norm);
  }
  add_output();
  add_optional_names();
}

void Transformer::add_output() {
  nn::ParamRef output = target_.tokens, bias;
  if (config_.output_bias) {
    bias = table_.add(
        {"final_logits_bias", {config_.vocabulary}, {nn::Initialization::Kind::kZeros}, {}, false});
  }
  if (!config_.tied_output) {
    output = table_.add(
        {"lm_head.weight", {config_.vocabulary, config_.width}, embedding_initialisation(config_), {}});
    table_.set_fewest_bits(output.first, 8);
  }
  output_ = nn::Linear(table_, output, bias);
}

/// Files of models without an output layer leave out the prefix that all names have.
void Transformer::add_optional_names() {
  const std::string& prefix = config_.family->optional_prefix;
  for (const std::string& name : config_.family->left_out) table_.ignore_prefix(name);
  if (prefix.empty()) return;
  for (int row = 0; row < table_.size(); ++row) {
    std::vector<std::string> names = table_[row].aliases;
    names.push_back(table_[row].name);
    for (const std::string& name : names) {
      if (name.starts_with(prefix)) table_.add_alias(row, name.substr(prefix.size()));
    }
  }
}

void Transformer::add_embeddings() {
  const TransformerFamily& family = *config_.family;
  const std::string &encoder = family.encoder.embedding, &decoder = family.decoder.embedding;
  const auto add = [&](const std::string& name, int64_t vocabulary, std::vector<std::string> aliases) {
    const nn::ParamRef embedding = table_.add(
        {name, {vocabulary, config_.width}, embedding_initialisation(config_), std::move(aliases)});
    table_.set_fewest_bits(embedding.first, 8);
    return embedding;
  };
  if (config_.share_embeddings) {
    source_.tokens = target_.tokens = add(family.shared_embedding, config_.vocabulary, {encoder, decoder});
  } else {
    source_.tokens = add(encoder, config_.source_vocabulary, {});
    target_.tokens = add(decoder, config_.vocabulary, {});
    table_.ignore_prefix(family.shared_embedding);
  }
  if (config_.tied_output) table_.add_alias(target_.tokens.first, "lm_head.weight");
  // Marian's start embedding is zero, and toolkits that read its models may rely on that.
  if (is_post_norm_marian(config_) && config_.start_id == config_.padding_id) {
    table_.set_zero_row(target_.tokens.first, config_.start_id);
  }
}

// ---- All positions at once -------------------------------------------------------------------------------

Tensor Transformer::sinusoidal_positions(Stack stack, int64_t count) const {
  const nn::StackPositions& positions = (stack == Stack::kEncoder ? source_ : target_).positions;
  const int64_t first = config_.first_row;
  return positions.sinusoids(first + count).narrow(0, first, count).clone();
}

Var Transformer::embed(nn::Context& context, const Embedding& embedding, const std::vector<int32_t>& ids,
                       const std::vector<int32_t>& positions) const {
  ops::EmbeddingOptions options;
  options.scale = config_.scale_embedding ? std::sqrt(static_cast<double>(config_.width)) : 1;
  options.padding_id = config_.trains_padding ? -1 : config_.padding_id;
  Var x = embedding.positions.embed(context, embedding.tokens, ids, positions, options);  // (N, D)
  if (embedding.norm) x = embedding.norm->forward(context, x);
  x = ops::dropout(x, context.next_dropout(config_.dropout));
  return context.pass({embedding.stack, nn::StateKind::kResidual}, std::move(x));
}

std::vector<int32_t> Transformer::positions_in(const Sequences& sequences) const {
  constexpr int64_t kUnlimited = int64_t{1} << 30;
  return models::positions_in(sequences, config_.limited_length ? config_.max_length : kUnlimited);
}

Var Transformer::finish(nn::Context& context, Stack stack, const Var& x) const {
  const nn::Norm& norm = stack == Stack::kEncoder ? encoder_norm_ : decoder_norm_;
  Var y = config_.norm_first ? norm.forward(context, x) : x;
  if (config_.final_dropout) y = ops::dropout(y, context.next_dropout(config_.dropout));
  return context.pass({stack, nn::StateKind::kOutput}, std::move(y));
}

Var Transformer::output_input(const Var& hidden) const {
  return config_.output_scale == 1 ? hidden : ops::scale(hidden, config_.output_scale);
}

Var Transformer::encode(nn::Context& context, const Sequences& source) const {
  const auto layout = ops::AttentionLayout::packed(source.offsets, source.offsets);
  const std::vector<int32_t> positions = positions_in(source);
  Var x = embed(context, source_, source.ids, positions);  // (Ns, D)
  const auto angles = source_.positions.angles(positions, x.dtype());
  for (const nn::TransformerLayer& layer : encoder_) {
    x = layer.forward(context, x, layout, {.angles = angles ? &*angles : nullptr});
  }
  return finish(context, Stack::kEncoder, x);
}

Var Transformer::decode(nn::Context& context, const Sequences& decoder_input, const Var& memory,
                        const Sequences& source) const {
  const auto self = ops::AttentionLayout::packed(decoder_input.offsets, decoder_input.offsets);
  const auto cross = ops::AttentionLayout::packed(decoder_input.offsets, source.offsets);
  const nn::TransformerLayer::Memory attended{memory, cross};
  const std::vector<int32_t> positions = positions_in(decoder_input);
  Var x = embed(context, target_, decoder_input.ids, positions);  // (Nt, D)
  const auto angles = target_.positions.angles(positions, x.dtype());
  for (const nn::TransformerLayer& layer : decoder_) {
    x = layer.forward(context, x, self, {.angles = angles ? &*angles : nullptr}, &attended);
  }
  return finish(context, Stack::kDecoder, x);
}

ops::VocabularyLoss Transformer::loss(nn::Context& context, const Sequences& source,
                                      const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                      const ops::CrossEntropyOptions& options) const {
  const Var states = output_input(hidden(context, source, decoder_input));
  return output_.vocabulary_loss(context, states, id_tensor(labels), options);
}

Var Transformer::hidden(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const {
  return decode(context, decoder_input, encode(context, source), source);
}

Tensor Transformer::logits(nn::Context& context, const Sequences& source,
                           const Sequences& decoder_input) const {
  return vocabulary_logits(context, hidden(context, source, decoder_input)).value();
}

Var Transformer::final_norm(nn::Context& context, const Var& x) const {
  return config_.norm_first ? decoder_norm_.forward(context, x) : x;
}

Var Transformer::vocabulary_logits(nn::Context& context, const Var& hidden) const {
  return output_.forward(context, output_input(hidden));  // (N, D) -> (N, V)
}

// ---- One position at a time ------------------------------------------------------------------------------

namespace {

struct TransformerState : DecoderState {
  struct Memory {
    int32_t begin = 0, count = 0;
  };
  std::vector<nn::LayerState> layers;
  CacheRows cache_rows;
  std::vector<Memory> memories;  // of each sentence
  RowRanges memory_rows;
  int64_t memory_capacity = 0;
};

}  // namespace

std::unique_ptr<DecoderState> Transformer::start(nn::Context&) const {
  auto state = std::make_unique<TransformerState>();
  state->layers.resize(decoder_.size());
  return state;
}

std::vector<int32_t> Transformer::admit(nn::Context& context, DecoderState& decoder_state,
                                        const Sequences& source) const {
  auto& state = dynamic_cast<TransformerState&>(decoder_state);
  const Var memory = encode(context, source);  // (Ns, D)
  std::vector<int32_t> numbers;
  for (int b = 0; b < source.count(); ++b) {
    numbers.push_back(state.cache_rows.admit());
    const auto number = static_cast<size_t>(numbers.back());
    state.memories.resize(std::max(state.memories.size(), number + 1));
    const int32_t count = source.offsets[b + 1] - source.offsets[b];
    state.memories[number] = {state.memory_rows.take(count), count};
  }
  const bool grow = state.memory_rows.size() > state.memory_capacity;
  if (grow) state.memory_capacity = std::max<int64_t>(state.memory_rows.size(), 2 * state.memory_capacity);
  for (size_t n = 0; n < decoder_.size(); ++n) {
    const Tensor projected = decoder_[n].project_memory(context, memory).value();  // (Ns, 2 D)
    const int64_t width = projected.dim(1);
    Tensor& all = state.layers[n].memory_keys_values;
    if (grow) all = nn::grown(all, state.memory_capacity, width, nn::cached_type(context));
    for (int b = 0; b < source.count(); ++b) {
      const TransformerState::Memory& sentence = state.memories[numbers[b]];
      const float* rows = projected.data<float>() + source.offsets[b] * width;
      for (int64_t row = 0; row < sentence.count; ++row)
        nn::put_row(rows + row * width, all, sentence.begin + row);
    }
  }
  return numbers;
}

void Transformer::release(DecoderState& decoder_state, int32_t number) const {
  auto& state = dynamic_cast<TransformerState&>(decoder_state);
  state.cache_rows.release(number);
  state.memory_rows.give_back(state.memories[number].begin, state.memories[number].count);
}

Tensor Transformer::step(nn::Context& context, DecoderState& decoder_state,
                         const std::vector<StepRow>& rows) const {
  auto& state = dynamic_cast<TransformerState&>(decoder_state);
  const CacheRows::Step step = state.cache_rows.step(rows);
  nn::StepLayout cross;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto query = static_cast<int32_t>(r);
    const TransformerState::Memory& memory = state.memories[rows[r].sentence];
    cross.spans.push_back({query, query + 1, memory.begin, memory.begin + memory.count});
  }
  for (size_t n = 0; n < decoder_.size(); ++n) {
    state.layers[n].self.reserve(state.cache_rows.size(), decoder_[n].key_value_width(),
                                 nn::cached_type(context));
  }

  Var x = embed(context, target_, step.ids, step.positions);  // (R, D)
  const auto angles = target_.positions.angles(step.positions, x.dtype());
  for (size_t n = 0; n < decoder_.size(); ++n) {
    x = decoder_[n].step(context, x, state.layers[n], {step.layout, &cross, angles ? &*angles : nullptr});
  }
  return next_logits(context, output_, output_input(finish(context, Stack::kDecoder, x)), rows);
}

}  // namespace heed::models
