#include "models/stacks/rnn_seq2seq.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "models/config/config_checks.h"
#include "models/embedding_indices.h"
#include "models/row_ranges.h"
#include "nn/linear.h"
#include "nn/positions/embedding.h"
#include "nn/storage/key_value_cache.h"
#include "ops/columns.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"

namespace heed::models {
namespace {

void require(const RnnConfig& c) {
  require_positive("a recurrent model",
                   {{"vocabulary", std::min(c.vocabulary, c.source_vocabulary)},
                    {"width", c.width},
                    {"number of encoder layers", c.encoder_layers},
                    {"number of decoder layers", c.decoder_layers},
                    {"state width", std::min(c.encoder_state_width, c.decoder_state_width)},
                    {"attention width", c.attention_width},
                    {"maximum length", c.max_length}});
  if (c.share_embeddings) require_shared_vocabulary(c.source_vocabulary, c.vocabulary);
  if (c.tie_output && c.readout_width != c.width) {
    fail(ErrorKind::kUsage,
         "the readout width {} must equal the embedding width {}, since the output is tied", c.readout_width,
         c.width);
  }
  if (c.score == nn::AttentionScore::kDot && c.decoder_state_width != 2 * c.encoder_state_width) {
    fail(ErrorKind::kUsage,
         "dot-product attention needs a decoder state width of twice the encoder state width, but {} is not "
         "twice {}",
         c.decoder_state_width, c.encoder_state_width);
  }
  require_special_ids({c.padding_id, c.end_id, c.start_id}, c.vocabulary);
}

void require_length(const Sequences& sequences, int64_t max_length) {
  for (int b = 0; b < sequences.count(); ++b) {
    const int32_t length = sequences.offsets[b + 1] - sequences.offsets[b];
    if (length == 0) fail(ErrorKind::kUsage, "empty sequences are not supported");
    if (length > max_length) {
      fail(ErrorKind::kUsage, "a sequence of {} tokens exceeds the model's maximum length of {}", length,
           max_length);
    }
  }
}

}  // namespace

RnnSeq2Seq::RnnSeq2Seq(const RnnConfig& config) : config_(config) {
  require(config);
  const int64_t width = config.width, annotation = 2 * config.encoder_state_width;
  const auto embedding = [&](const std::string& name, int64_t vocabulary,
                             std::vector<std::string> aliases = {}) {
    // Embedding features have magnitude 1 (scaled) or 1 / sqrt(E), and initial logits are near 0.
    const double deviation = std::pow(static_cast<double>(width), -0.5);
    const nn::ParamRef table = table_.add(
        {name, {vocabulary, width}, {nn::Initialization::Kind::kNormal, deviation}, std::move(aliases)});
    table_.set_fewest_bits(table.first, 8);
    return table;
  };
  if (config.share_embeddings) {
    source_embedding_ = target_embedding_ = embedding("model.shared.weight", config.vocabulary);
  } else {
    source_embedding_ = embedding("model.encoder.embed_tokens.weight", config.source_vocabulary);
    target_embedding_ = embedding("model.decoder.embed_tokens.weight", config.vocabulary);
  }
  for (int n = 0; n < config.encoder_layers; ++n) {
    encoder_.emplace_back(table_, fmt::format("model.encoder.layers.{}.", n),
                          nn::RecurrentLayer::Options{.cell = config.cell,
                                                      .input_width = n == 0 ? width : annotation,
                                                      .width = config.encoder_state_width,
                                                      .bidirectional = true});
  }
  start_ = nn::Linear(table_, "model.decoder.start", config.encoder_state_width, state_width());
  attentive_ = nn::RecurrentDecoderLayer(table_, "model.decoder.layers.0.",
                                         {.cell = config.cell,
                                          .input_width = width,
                                          .width = config.decoder_state_width,
                                          .annotation_width = annotation,
                                          .score = config.score,
                                          .attention_width = config.attention_width});
  for (int n = 1; n < config.decoder_layers; ++n) {
    upper_.emplace_back(table_, fmt::format("model.decoder.layers.{}.", n),
                        nn::RecurrentLayer::Options{.cell = config.cell,
                                                    .input_width = config.decoder_state_width,
                                                    .width = config.decoder_state_width});
  }
  int64_t hidden = config.decoder_state_width + annotation + width;
  if (config.readout_width > 0) {
    readout_ = nn::Linear(table_, "model.decoder.readout", hidden, config.readout_width);
    hidden = config.readout_width;
  }
  const nn::ParamRef output = config.tie_output
                                  ? target_embedding_
                                  : table_.add({"lm_head.weight", {config.vocabulary, hidden}, {}, {}});
  table_.set_fewest_bits(output.first, 8);
  output_ =
      nn::Linear(table_, output,
                 table_.add({"lm_head.bias", {config.vocabulary}, {nn::Initialization::Kind::kZeros}, {}}));
}

namespace {

nn::StateId state_after(Stack stack, size_t layer) {
  return {stack, nn::StateKind::kResidual, static_cast<int>(layer), nn::SubLayer::kRecurrence};
}

}  // namespace

// ---- Whole sentences --------------------------------------------------------------------------------------

Var RnnSeq2Seq::embed(nn::Context& context, Stack stack, const std::vector<int32_t>& ids) const {
  const nn::ParamRef table = stack == Stack::kEncoder ? source_embedding_ : target_embedding_;
  ops::EmbeddingOptions options;
  if (config_.scale_embedding) options.scale = std::sqrt(static_cast<double>(config_.width));
  const Var embedded = nn::token_embedding(context, stack, table, ids, options);  // (N, E)
  return context.pass({stack, nn::StateKind::kResidual},
                      ops::dropout(embedded, context.next_dropout(config_.dropout)));
}

RnnSeq2Seq::Encoded RnnSeq2Seq::encode(nn::Context& context, const Sequences& source) const {
  require_length(source, config_.max_length);
  Var x = embed(context, Stack::kEncoder, source.ids);  // (Ns, E)
  for (size_t n = 0; n < encoder_.size(); ++n) {
    if (n > 0) x = ops::dropout(x, context.next_dropout(config_.dropout));
    x = encoder_[n].forward(context, x, source.offsets).states;  // (Ns, 2 S)
    x = context.pass(state_after(Stack::kEncoder, n), std::move(x));
  }
  x = context.pass({Stack::kEncoder, nn::StateKind::kOutput}, std::move(x));
  // The backward state at the first token has read the whole sentence.
  const std::vector<int32_t> first_words(source.offsets.begin(), source.offsets.end() - 1);
  const Var first_annotations = ops::embedding(x, id_tensor(first_words));  // (B, 2 S)
  const Var backward =
      ops::columns(first_annotations, config_.encoder_state_width, config_.encoder_state_width);  // (B, S)
  const Var start = ops::activate(Activation::kTanh, start_.forward(context, backward));
  return {attentive_.remember(context, x), start};
}

ops::RecurrentStart RnnSeq2Seq::start_of(const Var& all, int layer) const {
  const int64_t width = config_.decoder_state_width, begin = layer * states_per_layer() * width;
  ops::RecurrentStart start{.state = {all, begin, width}};
  if (config_.cell == RecurrentCell::kLstm) start.cell = {all, begin + width, width};
  return start;
}

RnnSeq2Seq::Decoded RnnSeq2Seq::decode(nn::Context& context, const std::vector<int32_t>& ids,
                                       const ops::RecurrentMemory& memory, const ops::AttentionLayout& layout,
                                       const Var& start) const {
  const int64_t width = config_.decoder_state_width;
  Decoded decoded;
  const Var words = embed(context, Stack::kDecoder, ids);  // (Nt, E)
  decoded.first = attentive_.forward(context, words, memory, layout, start_of(start, 0));
  decoded.first.output = context.pass(state_after(Stack::kDecoder, 0), std::move(decoded.first.output));
  Var states_contexts = decoded.first.output;  // (Nt, S + C)
  if (!upper_.empty()) {
    std::vector<int32_t> offsets{0};
    for (const AttentionSpan& span : layout.spans) offsets.push_back(span.query_end);
    Var states = ops::columns(states_contexts, 0, width);  // (Nt, S)
    for (size_t n = 0; n < upper_.size(); ++n) {
      states = ops::dropout(states, context.next_dropout(config_.dropout));
      const auto begin = start_of(start, static_cast<int>(n) + 1);
      decoded.others.push_back(upper_[n].forward(context, states, offsets, begin));
      states = decoded.others.back().states;  // (Nt, S)
      states = context.pass(state_after(Stack::kDecoder, n + 1), std::move(states));
    }
    const Var contexts = ops::columns(states_contexts, width, 2 * config_.encoder_state_width);  // (Nt, C)
    states_contexts = ops::concatenate({states, contexts});
  }
  decoded.hidden = ops::concatenate({states_contexts, words});  // (Nt, S + C + E)
  if (config_.readout_width > 0) {
    decoded.hidden = ops::activate(Activation::kTanh, readout_.forward(context, decoded.hidden));
  }
  decoded.hidden = ops::dropout(decoded.hidden, context.next_dropout(config_.dropout));
  decoded.hidden = context.pass({Stack::kDecoder, nn::StateKind::kOutput}, std::move(decoded.hidden));
  return decoded;
}

RnnSeq2Seq::Decoded RnnSeq2Seq::teacher_forced(nn::Context& context, const Sequences& source,
                                               const Sequences& decoder_input) const {
  require_length(decoder_input, config_.max_length);
  const Encoded encoded = encode(context, source);
  const auto layout = ops::AttentionLayout::packed(decoder_input.offsets, source.offsets);
  Decoded decoded = decode(context, decoder_input.ids, encoded.memory, layout, encoded.start);
  if (context.sink != nullptr) {
    context.sink->receive({Stack::kCross, 0}, decoded.first.weights, layout, 1);
  }
  return decoded;
}

ops::VocabularyLoss RnnSeq2Seq::loss(nn::Context& context, const Sequences& source,
                                     const Sequences& decoder_input, const std::vector<int32_t>& labels,
                                     const ops::CrossEntropyOptions& options) const {
  const Var states = hidden(context, source, decoder_input);
  return output_.vocabulary_loss(context, states, id_tensor(labels), options);
}

Tensor RnnSeq2Seq::logits(nn::Context& context, const Sequences& source,
                          const Sequences& decoder_input) const {
  return vocabulary_logits(context, hidden(context, source, decoder_input)).value();
}

Var RnnSeq2Seq::hidden(nn::Context& context, const Sequences& source, const Sequences& decoder_input) const {
  return teacher_forced(context, source, decoder_input).hidden;
}

Var RnnSeq2Seq::vocabulary_logits(nn::Context& context, const Var& hidden) const {
  return output_.forward(context, hidden);  // (N, D) -> (N, V)
}

// ---- One word at a time
// ------------------------------------------------------------------------------------

namespace {

/// Hypotheses share the annotations of their sentence. Each has its own states, which the next step copies.
struct RnnState : DecoderState {
  struct Sentence {
    bool live = false;
    int32_t memory_begin = 0, memory_count = 0;
    Tensor start;  // (1, state width)
  };
  std::vector<Sentence> sentences;
  RowRanges memory_rows;
  int64_t memory_capacity = 0;
  ops::RecurrentMemory memory;
  Tensor last;  // the states of the rows of the last step (R, state width)
};

/// Writes rows (R, width) into columns [begin, begin + width) of `all`.
void put_columns(const Tensor& rows, int64_t rows_begin, int64_t width, Tensor& all, int64_t begin) {
  for (int64_t r = 0; r < all.dim(0); ++r) {
    std::copy_n(rows.data<float>() + r * rows.dim(1) + rows_begin, width,
                all.data<float>() + r * all.dim(1) + begin);
  }
}

}  // namespace

std::unique_ptr<DecoderState> RnnSeq2Seq::start(nn::Context&) const {
  return std::make_unique<RnnState>();
}

std::vector<int32_t> RnnSeq2Seq::admit(nn::Context& context, DecoderState& decoder_state,
                                       const Sequences& source) const {
  auto& state = dynamic_cast<RnnState&>(decoder_state);
  const Encoded encoded = encode(context, source);
  std::vector<int32_t> numbers;
  for (int b = 0; b < source.count(); ++b) {
    size_t number = 0;
    while (number < state.sentences.size() && state.sentences[number].live) ++number;
    if (number == state.sentences.size()) state.sentences.emplace_back();
    RnnState::Sentence& sentence = state.sentences[number];
    sentence.live = true;
    sentence.memory_count = source.offsets[b + 1] - source.offsets[b];
    sentence.memory_begin = state.memory_rows.take(sentence.memory_count);
    sentence.start = encoded.start.value().narrow(0, b, 1).clone();
    numbers.push_back(static_cast<int32_t>(number));
  }
  const bool grow = state.memory_rows.size() > state.memory_capacity;
  if (grow) state.memory_capacity = std::max<int64_t>(state.memory_rows.size(), 2 * state.memory_capacity);
  const auto keep = [&](const Tensor& rows, const Tensor& before) {
    const int64_t width = rows.dim(1);
    Tensor all = grow ? nn::grown(before, state.memory_capacity, width) : before;
    for (int b = 0; b < source.count(); ++b) {
      const RnnState::Sentence& sentence = state.sentences[numbers[b]];
      std::copy_n(rows.data<float>() + source.offsets[b] * width, sentence.memory_count * width,
                  all.data<float>() + sentence.memory_begin * width);
    }
    return all;
  };
  const bool dot = config_.score == nn::AttentionScore::kDot;  // annotations are the keys
  const Tensor annotations = keep(encoded.memory.annotations.value(), state.memory.annotations.value());
  const Tensor keys = dot ? annotations : keep(encoded.memory.keys.value(), state.memory.keys.value());
  state.memory = {annotations, keys};
  return numbers;
}

void RnnSeq2Seq::release(DecoderState& decoder_state, int32_t number) const {
  auto& state = dynamic_cast<RnnState&>(decoder_state);
  RnnState::Sentence& sentence = state.sentences[number];
  HEED_CHECK(sentence.live);
  state.memory_rows.give_back(sentence.memory_begin, sentence.memory_count);
  sentence = {};
}

/// A sequence of one token per row, starting from the states of the row's parent.
Tensor RnnSeq2Seq::step(nn::Context& context, DecoderState& decoder_state,
                        const std::vector<StepRow>& rows) const {
  auto& state = dynamic_cast<RnnState&>(decoder_state);
  const int64_t all_width = state_width(), width = config_.decoder_state_width;
  Tensor before = Tensor::empty({static_cast<int64_t>(rows.size()), all_width});
  ops::AttentionLayout layout;
  std::vector<int32_t> ids;
  for (size_t r = 0; r < rows.size(); ++r) {
    const RnnState::Sentence& sentence = state.sentences[rows[r].sentence];
    HEED_CHECK(sentence.live);
    const float* from = rows[r].parent < 0
                            ? sentence.start.data<float>()
                            : std::as_const(state.last).data<float>() + rows[r].parent * all_width;
    std::copy_n(from, all_width, before.data<float>() + static_cast<int64_t>(r) * all_width);
    const auto query = static_cast<int32_t>(r);
    layout.spans.push_back({query, query + 1, sentence.memory_begin,
                            sentence.memory_begin + sentence.memory_count, layout.pairs()});
    ids.push_back(rows[r].token);
  }
  const Decoded decoded = decode(context, ids, state.memory, layout, before);
  state.last = Tensor::empty(before.shape());
  int64_t column = 0;
  const auto keep = [&](const Tensor& states, const Tensor& cells) {
    put_columns(states, 0, width, state.last, column);
    if (cells.defined()) put_columns(cells, 0, width, state.last, column + width);
    column += states_per_layer() * width;
  };
  keep(decoded.first.output.value(), decoded.first.cells);
  for (const ops::RecurrentStates& layer : decoded.others) keep(layer.states.value(), layer.cells);
  return next_logits(context, output_, decoded.hidden, rows);
}

}  // namespace heed::models
