#include "models/transformer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "models/cache_rows.h"
#include "models/places.h"
#include "models/row_ranges.h"
#include "models/transformer_config.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "ops/elementwise.h"

namespace heed::models {

namespace {

void require(const TransformerConfig& c) {
  const auto require_positive = [](const char* what, int64_t value) {
    if (value < 1) fail(ErrorKind::kUsage, "a Transformer needs a {} of at least 1, not {}", what, value);
  };
  require_positive("vocabulary", std::min(c.vocabulary, c.source_vocabulary));
  if (c.share_embeddings && c.source_vocabulary != c.vocabulary) {
    fail(ErrorKind::kUsage, "shared embeddings need one vocabulary, not {} source and {} target tokens",
         c.source_vocabulary, c.vocabulary);
  }
  require_positive("d_model", c.width);
  require_positive("number of encoder layers", c.encoder_layers);
  require_positive("number of decoder layers", c.decoder_layers);
  require_positive("feed-forward width", std::min(c.encoder_inner_width, c.decoder_inner_width));
  require_positive("maximum length", c.max_length);
  if (c.positions.kind == nn::PositionKind::kLearned && c.max_length * c.width > int64_t{1} << 28) {
    fail(ErrorKind::kUsage, "{} positions of width {} exceed the supported size", c.max_length, c.width);
  }
  for (const int32_t id : {c.padding_id, c.end_id, c.start_id}) {
    if (id < 0 || id >= c.vocabulary) {
      fail(ErrorKind::kUsage, "the special token id {} is out of range for a vocabulary of {}", id,
           c.vocabulary);
    }
  }
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
          .norm = c.norm};
}

/// Embeddings are multiplied by sqrt(D), so this standard deviation gives them unit variance.
nn::Initialisation embedding_initialisation(const TransformerConfig& c) {
  return {nn::Initialisation::Kind::kNormal, std::pow(static_cast<double>(c.width), -0.5)};
}

/// Depth-scaled initialization (Zhang, Titov and Sennrich, "Improving Deep Transformer with Depth-Scaled
/// Initialization and Merged Attention", 2019): scales the initial weights of layer l, counted from 1, by
/// 1/sqrt(l), so that gradients pass through deep post-norm stacks.
void scale_layer(nn::ParameterTable& table, int first_row, int layer) {
  for (int row = first_row; row < table.size(); ++row) {
    if (table[row].initialisation.kind != nn::Initialisation::Kind::kXavier) continue;
    table.begin(row, {nn::Initialisation::Kind::kXavier, 1 / std::sqrt(layer + 1.0)});
  }
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config) : config_(config) {
  if (config_.source_vocabulary == 0) config_.source_vocabulary = config.vocabulary;
  require(config_);
  add_embeddings();
  auto encoder_options = layer_options(config, config.encoder_heads, config.encoder_inner_width);
  source_.positions =
      nn::StackPositions(table_, "model.encoder.", config.positions,
                         {config.width, config.encoder_heads, config.max_length, /*bidirectional=*/true});
  for (int n = 0; n < config.encoder_layers; ++n) {
    const std::string prefix = fmt::format("model.encoder.layers.{}.", n);
    encoder_options.relative = source_.positions.of_layer(table_, prefix + "self_attn.");
    const int first_row = table_.size();
    encoder_.emplace_back(table_, prefix, encoder_options, n);
    if (config.depth_scaled_init) scale_layer(table_, first_row, n);
  }
  auto decoder_options = layer_options(config, config.decoder_heads, config.decoder_inner_width);
  decoder_options.stack = Stack::kDecoder;
  decoder_options.causal = decoder_options.cross_attention = true;
  target_.positions =
      nn::StackPositions(table_, "model.decoder.", config.positions,
                         {config.width, config.decoder_heads, config.max_length, /*bidirectional=*/false});
  for (int n = 0; n < config.decoder_layers; ++n) {
    const std::string prefix = fmt::format("model.decoder.layers.{}.", n);
    decoder_options.relative = target_.positions.of_layer(table_, prefix + "self_attn.");
    const int first_row = table_.size();
    decoder_.emplace_back(table_, prefix, decoder_options, n);
    if (config.depth_scaled_init) scale_layer(table_, first_row, n);
  }
  if (config.norm_first) {
    encoder_norm_ = nn::Norm(table_, "model.encoder.layer_norm", config.width, {config.norm});
    decoder_norm_ = nn::Norm(table_, "model.decoder.layer_norm", config.width, {config.norm});
  }
  const nn::ParamRef output_bias =
      table_.add({"final_logits_bias", {config.vocabulary}, {nn::Initialisation::Kind::kZeros}, {}, false});
  nn::ParamRef output = target_.tokens;
  if (!config.tied_output) {
    output = table_.add(
        {"lm_head.weight", {config.vocabulary, config.width}, embedding_initialisation(config), {}});
    table_.let_quantize(output.first);
  }
  output_ = nn::Linear(table_, output, output_bias);
}

void Transformer::add_embeddings() {
  const std::string encoder = "model.encoder.embed_tokens.weight",
                    decoder = "model.decoder.embed_tokens.weight";
  const auto add = [&](const std::string& name, int64_t vocabulary, std::vector<std::string> aliases) {
    const nn::ParamRef embedding = table_.add(
        {name, {vocabulary, config_.width}, embedding_initialisation(config_), std::move(aliases)});
    table_.let_quantize(embedding.first);
    return embedding;
  };
  if (config_.share_embeddings) {
    source_.tokens = target_.tokens = add("model.shared.weight", config_.vocabulary, {encoder, decoder});
  } else {
    source_.tokens = add(encoder, config_.source_vocabulary, {});
    target_.tokens = add(decoder, config_.vocabulary, {});
    table_.leave_out("model.shared.weight");
  }
  if (config_.tied_output) table_.also_call(target_.tokens.first, "lm_head.weight");
  // Marian's start embedding is zero, and toolkits that read its models may rely on that.
  if (unsupported_by_marian(config_).empty() && config_.start_id == config_.padding_id) {
    table_.keep_zero(target_.tokens.first, config_.start_id);
  }
}

// ---- All positions at once -------------------------------------------------------------------------------

Var Transformer::embed(nn::Context& context, const Embedding& embedding, const std::vector<int32_t>& ids,
                       const std::vector<int32_t>& places) const {
  ops::EmbeddingOptions options;
  options.scale = config_.scale_embedding ? std::sqrt(static_cast<double>(config_.width)) : 1;
  options.padding_id = config_.padding_id;
  const Var x = embedding.positions.embed(context, embedding.tokens, ids, places, options);  // (N, D)
  return ops::dropout(x, context.next_dropout(config_.dropout));
}

Var Transformer::encode(nn::Context& context, const Sequences& source) const {
  const auto layout = ops::AttentionLayout::packed(source.offsets, source.offsets);
  const std::vector<int32_t> places = places_in(source, config_.max_length);
  Var x = embed(context, source_, source.ids, places);  // (Ns, D)
  const auto angles = source_.positions.angles(places, x.dtype());
  for (const nn::TransformerLayer& layer : encoder_) {
    x = layer.forward(context, x, layout, {.angles = angles ? &*angles : nullptr});
  }
  return config_.norm_first ? encoder_norm_.forward(context, x) : x;
}

Var Transformer::decode(nn::Context& context, const Sequences& decoder_input, const Var& memory,
                        const Sequences& source) const {
  const auto self = ops::AttentionLayout::packed(decoder_input.offsets, decoder_input.offsets);
  const auto cross = ops::AttentionLayout::packed(decoder_input.offsets, source.offsets);
  const nn::TransformerLayer::Memory attended{memory, cross};
  const std::vector<int32_t> places = places_in(decoder_input, config_.max_length);
  Var x = embed(context, target_, decoder_input.ids, places);  // (Nt, D)
  const auto angles = target_.positions.angles(places, x.dtype());
  for (const nn::TransformerLayer& layer : decoder_) {
    x = layer.forward(context, x, self, {.angles = angles ? &*angles : nullptr}, &attended);
  }
  return config_.norm_first ? decoder_norm_.forward(context, x) : x;
}

ops::VocabularyLoss Transformer::loss(nn::Context& context, const Sequences& source,
                                      const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                      const ops::CrossEntropyOptions& options, double scale) const {
  const Var memory = encode(context, source);
  const Var hidden = decode(context, decoder_input, memory, source);
  return output_.vocabulary_loss(context, hidden, id_tensor(labels), options, scale);
}

Tensor Transformer::logits(nn::Context& context, const Sequences& source,
                           const Sequences& decoder_input) const {
  return output_.forward(context, decode(context, decoder_input, encode(context, source), source)).value();
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

TransformerState& state_of(DecoderState& state) {
  return dynamic_cast<TransformerState&>(state);
}

}  // namespace

std::unique_ptr<DecoderState> Transformer::start(nn::Context&) const {
  auto state = std::make_unique<TransformerState>();
  state->layers.resize(decoder_.size());
  return state;
}

std::vector<int32_t> Transformer::admit(nn::Context& context, DecoderState& decoder_state,
                                        const Sequences& source) const {
  TransformerState& state = state_of(decoder_state);
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
      const TransformerState::Memory& place = state.memories[numbers[b]];
      const float* rows = projected.data<float>() + source.offsets[b] * width;
      for (int64_t row = 0; row < place.count; ++row) nn::put_row(rows + row * width, all, place.begin + row);
    }
  }
  return numbers;
}

void Transformer::release(DecoderState& decoder_state, int32_t number) const {
  TransformerState& state = state_of(decoder_state);
  state.cache_rows.release(number);
  state.memory_rows.give_back(state.memories[number].begin, state.memories[number].count);
}

Tensor Transformer::step(nn::Context& context, DecoderState& decoder_state,
                         const std::vector<StepRow>& rows) const {
  TransformerState& state = state_of(decoder_state);
  const CacheRows::Step step = state.cache_rows.step(rows);
  nn::StepLayout cross;
  for (size_t r = 0; r < rows.size(); ++r) {
    const auto query = static_cast<int32_t>(r);
    const TransformerState::Memory& memory = state.memories[rows[r].sentence];
    cross.spans.push_back({query, query + 1, memory.begin, memory.begin + memory.count});
  }
  for (nn::LayerState& layer : state.layers)
    layer.self.reserve(state.cache_rows.size(), config_.width, nn::cached_type(context));

  Var x = embed(context, target_, step.ids, step.places);  // (R, D)
  const auto angles = target_.positions.angles(step.places, x.dtype());
  for (size_t n = 0; n < decoder_.size(); ++n) {
    x = decoder_[n].step(context, x, state.layers[n], {step.layout, &cross, angles ? &*angles : nullptr});
  }
  if (config_.norm_first) x = decoder_norm_.forward(context, x);
  return next_logits(context, output_, x, rows);
}

}  // namespace heed::models
