#include "models/transformer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/linear.h"

namespace heed::models {

namespace {

void require(const TransformerConfig& c) {
  const auto require_positive = [](const char* what, int64_t value) {
    if (value < 1) fail(ErrorKind::kUsage, "a Transformer needs a {} of at least 1, not {}", what, value);
  };
  require_positive("vocabulary", c.vocabulary);
  require_positive("d_model", c.width);
  require_positive("number of encoder layers", c.encoder_layers);
  require_positive("number of decoder layers", c.decoder_layers);
  require_positive("feed-forward width", std::min(c.encoder_inner_width, c.decoder_inner_width));
  require_positive("longest sequence", c.longest);
  if (c.longest * c.width > int64_t{1} << 28) {
    fail(ErrorKind::kUsage, "{} positions of width {} are more than this library makes", c.longest, c.width);
  }
  for (const int32_t id : {c.padding_id, c.end_id, c.start_id}) {
    if (id < 0 || id >= c.vocabulary) {
      fail(ErrorKind::kUsage, "the special id {} is outside the vocabulary of {}", id, c.vocabulary);
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
          .activation_dropout = c.activation_dropout};
}

Tensor id_tensor(const std::vector<int32_t>& ids) {
  return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
}

}  // namespace

Transformer::Transformer(const TransformerConfig& config) : config_(config) {
  require(config);
  // Embeddings are multiplied by sqrt(D), so this standard deviation gives them unit variance.
  const double deviation = std::pow(static_cast<double>(config.width), -0.5);
  embedding_ = table_.add(
      {"model.shared.weight",
       {config.vocabulary, config.width},
       {nn::Initialisation::Kind::kNormal, deviation},
       {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"}});
  const auto encoder_options = layer_options(config, config.encoder_heads, config.encoder_inner_width);
  for (int n = 0; n < config.encoder_layers; ++n) {
    encoder_.emplace_back(table_, fmt::format("model.encoder.layers.{}.", n), encoder_options, n);
  }
  const auto decoder_options = layer_options(config, config.decoder_heads, config.decoder_inner_width);
  for (int n = 0; n < config.decoder_layers; ++n) {
    decoder_.emplace_back(table_, fmt::format("model.decoder.layers.{}.", n), decoder_options, n);
  }
  if (config.norm_first) {
    encoder_norm_ = nn::LayerNorm(table_, "model.encoder.layer_norm", config.width);
    decoder_norm_ = nn::LayerNorm(table_, "model.decoder.layer_norm", config.width);
  }
  output_bias_ =
      table_.add({"final_logits_bias", {config.vocabulary}, {nn::Initialisation::Kind::kZeros}, {}, false});
  // Old files hold the positions too, which are computed here.
  table_.leave_out("model.encoder.embed_positions.");
  table_.leave_out("model.decoder.embed_positions.");
  positions_ = nn::sinusoidal_positions(config.longest, config.width, config.positions);
}

// ---- All positions at once -------------------------------------------------------------------------------

Var Transformer::embed(nn::Context& context, const std::vector<int32_t>& ids,
                       const std::vector<int32_t>& places) const {
  const Var table = context.parameter(embedding_);
  ops::EmbeddingOptions options;
  options.scale = config_.scale_embedding ? std::sqrt(static_cast<double>(config_.width)) : 1;
  options.padding_id = config_.padding_id;
  options.positions =
      table.dtype() == DType::kFloat32
          ? positions_
          : nn::sinusoidal_positions(config_.longest, config_.width, config_.positions, table.dtype());
  options.places = id_tensor(places);
  const Var embedded = ops::embedding(table, id_tensor(ids), options);  // (N, D)
  return ops::dropout(embedded, context.next_dropout(config_.dropout));
}

Var Transformer::embed(nn::Context& context, const Sequences& sequences) const {
  std::vector<int32_t> places(sequences.ids.size());
  for (int b = 0; b < sequences.count(); ++b) {
    const int32_t begin = sequences.offsets[b], end = sequences.offsets[b + 1];
    if (end - begin > config_.longest) {
      fail(ErrorKind::kUsage,
           "a sequence of {} tokens is longer than the {} that the model has positions for", end - begin,
           config_.longest);
    }
    std::iota(places.begin() + begin, places.begin() + end, 0);
  }
  return embed(context, sequences.ids, places);
}

Var Transformer::encode(nn::Context& context, const Sequences& source) const {
  const auto layout = ops::AttentionLayout::packed(source.offsets, source.offsets);
  Var x = embed(context, source);  // (Ns, D)
  for (const nn::EncoderLayer& layer : encoder_) x = layer.forward(context, x, layout, {});
  return config_.norm_first ? encoder_norm_.forward(context, x) : x;
}

Var Transformer::decode(nn::Context& context, const Sequences& decoder_input, const Var& memory,
                        const Sequences& source) const {
  const auto self = ops::AttentionLayout::packed(decoder_input.offsets, decoder_input.offsets);
  const auto cross = ops::AttentionLayout::packed(decoder_input.offsets, source.offsets);
  const ops::AttentionMask look_ahead{.causal = true}, everything;
  Var x = embed(context, decoder_input);  // (Nt, D)
  for (const nn::DecoderLayer& layer : decoder_) {
    x = layer.forward(context, x, memory, {self, look_ahead, cross, everything});
  }
  return config_.norm_first ? decoder_norm_.forward(context, x) : x;
}

ops::VocabularyLoss Transformer::loss(nn::Context& context, const Sequences& source,
                                      const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                      const ops::CrossEntropyOptions& options, double scale) const {
  const Var memory = encode(context, source);
  const Var hidden = decode(context, decoder_input, memory, source);
  return ops::vocabulary_cross_entropy(hidden, context.parameter(embedding_), context.parameter(output_bias_),
                                       id_tensor(labels), options, scale);
}

Tensor Transformer::vocabulary_logits(nn::Context& context, const Var& hidden) const {
  const PackedMatrix* packed = nullptr;
  if (context.packed != nullptr && hidden.dtype() == DType::kFloat32) {
    packed = &context.packed->get(table_, *context.values, embedding_, output_bias_);
  }
  return ops::linear(hidden.value(), context.values->view(table_, embedding_),
                     context.values->view(table_, output_bias_), packed)
      .value();  // (N, D) -> (N, V)
}

Tensor Transformer::logits(nn::Context& context, const Sequences& source,
                           const Sequences& decoder_input) const {
  return vocabulary_logits(context, decode(context, decoder_input, encode(context, source), source));
}

// ---- One position at a time ------------------------------------------------------------------------------

namespace {

/// Ranges of rows of an array that grows: handed out, and taken back for others.
class RowRanges {
 public:
  /// The first of `count` rows.
  int32_t take(int32_t count) {
    for (auto& [begin, free] : free_) {
      if (free < count) continue;
      const int32_t taken = begin;
      begin += count;
      free -= count;
      return taken;
    }
    size_ += count;
    return size_ - count;
  }
  void give_back(int32_t begin, int32_t count) {
    if (count == 0) return;
    free_.emplace_back(begin, count);
    std::sort(free_.begin(), free_.end());
    std::vector<std::pair<int32_t, int32_t>> joined;
    for (const auto& range : free_) {
      if (range.second == 0) continue;
      if (!joined.empty() && joined.back().first + joined.back().second == range.first) {
        joined.back().second += range.second;
      } else {
        joined.push_back(range);
      }
    }
    free_ = std::move(joined);
  }
  /// Rows that the array must have.
  int32_t size() const { return size_; }

 private:
  std::vector<std::pair<int32_t, int32_t>> free_;  // begin and count, in order
  int32_t size_ = 0;
};

struct TransformerState : DecoderState {
  struct Sentence {
    bool live = false;
    int32_t memory_begin = 0, memory_count = 0;
    std::vector<int32_t> cache_rows;  // all that its hypotheses ever took
  };
  std::vector<nn::DecoderLayerState> layers;
  std::vector<Sentence> sentences;
  RowRanges memory_rows;
  int64_t memory_capacity = 0;
  std::vector<int32_t> free_cache_rows;
  int32_t cache_size = 0;
  int64_t cache_capacity = 0;
  std::vector<std::vector<int32_t>> paths;  // for each row of the last step: the cache rows of its words

  int32_t take_cache_row() {
    if (free_cache_rows.empty()) return cache_size++;
    const int32_t row = free_cache_rows.back();
    free_cache_rows.pop_back();
    return row;
  }
};

TransformerState& state_of(DecoderState& state) {
  return dynamic_cast<TransformerState&>(state);
}

/// A tensor of (rows, width) at least, that begins with the rows of `old`.
Tensor grown(const Tensor& old, int64_t rows, int64_t width) {
  Tensor larger = Tensor::empty({rows, width});
  if (old.defined()) std::copy_n(old.data<float>(), old.size(), larger.data<float>());
  return larger;
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
    size_t number = 0;
    while (number < state.sentences.size() && state.sentences[number].live) ++number;
    if (number == state.sentences.size()) state.sentences.emplace_back();
    TransformerState::Sentence& sentence = state.sentences[number];
    sentence.live = true;
    sentence.memory_count = source.offsets[b + 1] - source.offsets[b];
    sentence.memory_begin = state.memory_rows.take(sentence.memory_count);
    numbers.push_back(static_cast<int32_t>(number));
  }
  const bool grow = state.memory_rows.size() > state.memory_capacity;
  if (grow) state.memory_capacity = std::max<int64_t>(state.memory_rows.size(), 2 * state.memory_capacity);
  for (size_t n = 0; n < decoder_.size(); ++n) {
    const Tensor projected = decoder_[n].project_memory(context, memory).value();  // (Ns, 2 D)
    const int64_t width = projected.dim(1);
    Tensor& all = state.layers[n].memory_keys_values;
    if (grow) all = grown(all, state.memory_capacity, width);
    for (int b = 0; b < source.count(); ++b) {
      const TransformerState::Sentence& sentence = state.sentences[numbers[b]];
      std::copy_n(projected.data<float>() + source.offsets[b] * width, sentence.memory_count * width,
                  all.data<float>() + sentence.memory_begin * width);
    }
  }
  return numbers;
}

void Transformer::release(DecoderState& decoder_state, int32_t number) const {
  TransformerState& state = state_of(decoder_state);
  TransformerState::Sentence& sentence = state.sentences[number];
  HEED_CHECK(sentence.live);
  state.memory_rows.give_back(sentence.memory_begin, sentence.memory_count);
  state.free_cache_rows.insert(state.free_cache_rows.end(), sentence.cache_rows.begin(),
                               sentence.cache_rows.end());
  sentence = {};
}

Tensor Transformer::step(nn::Context& context, DecoderState& decoder_state,
                         const std::vector<StepRow>& rows) const {
  TransformerState& state = state_of(decoder_state);
  nn::StepLayout self, cross;
  std::vector<std::vector<int32_t>> paths(rows.size());
  std::vector<int32_t> ids, places;
  for (size_t r = 0; r < rows.size(); ++r) {
    TransformerState::Sentence& sentence = state.sentences[rows[r].sentence];
    HEED_CHECK(sentence.live);
    const auto query = static_cast<int32_t>(r);
    if (rows[r].parent >= 0) paths[r] = state.paths[rows[r].parent];
    const int32_t row = state.take_cache_row();
    sentence.cache_rows.push_back(row);
    self.new_rows.push_back(row);
    paths[r].push_back(row);
    const auto key_begin = static_cast<int32_t>(self.key_rows.size());
    self.key_rows.insert(self.key_rows.end(), paths[r].begin(), paths[r].end());
    self.spans.push_back({query, query + 1, key_begin, static_cast<int32_t>(self.key_rows.size())});
    cross.spans.push_back(
        {query, query + 1, sentence.memory_begin, sentence.memory_begin + sentence.memory_count});
    ids.push_back(rows[r].token);
    places.push_back(static_cast<int32_t>(paths[r].size()) - 1);
  }
  state.paths = std::move(paths);
  if (state.cache_size > state.cache_capacity) {
    state.cache_capacity = std::max<int64_t>(state.cache_size, 2 * state.cache_capacity);
    for (nn::DecoderLayerState& layer : state.layers) layer.self.reserve(state.cache_capacity, config_.width);
  }

  Var x = embed(context, ids, places);  // (R, D)
  for (size_t n = 0; n < decoder_.size(); ++n) x = decoder_[n].step(context, x, state.layers[n], self, cross);
  if (config_.norm_first) x = decoder_norm_.forward(context, x);
  return vocabulary_logits(context, x);  // (R, V)
}

}  // namespace heed::models
