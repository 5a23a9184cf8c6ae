#include "models/bert.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "models/bert_config.h"
#include "models/places.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "ops/cross_entropy.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/weighted_sum.h"

namespace heed::models {
namespace {

void require(const BertConfig& c) {
  const auto require_positive = [](const char* what, int64_t value) {
    if (value < 1) fail(ErrorKind::kUsage, "BERT needs a {} of at least 1, not {}", what, value);
  };
  require_positive("vocabulary", c.vocabulary);
  require_positive("number of text types", c.types);
  require_positive("width", c.width);
  require_positive("number of layers", c.layers);
  require_positive("feed-forward width", c.inner_width);
  require_positive("maximum length", c.max_length);
  if (c.padding_id < 0 || c.padding_id >= c.vocabulary) {
    fail(ErrorKind::kUsage, "the padding id {} is out of range for a vocabulary of {}", c.padding_id,
         c.vocabulary);
  }
}

const nn::LayerNames& layer_names() {
  static const nn::LayerNames names{.self_attention = {"attention.self.query", "attention.self.key",
                                                       "attention.self.value", "attention.output.dense"},
                                    .self_attention_norm = {"attention.output.LayerNorm"},
                                    .first = "intermediate.dense",
                                    .second = "output.dense",
                                    .feed_forward_norm = {"output.LayerNorm"}};
  return names;
}

void require(const ClassifierInput& input) {
  const Sequences& text = input.text;
  if (!input.types.empty() && input.types.size() != text.ids.size()) {
    fail(ErrorKind::kShape, "BERT: {} token types for {} tokens", input.types.size(), text.ids.size());
  }
  for (int b = 0; b < text.count(); ++b) {
    if (text[b].empty()) fail(ErrorKind::kUsage, "BERT: text {} has no tokens, not even [CLS]", b);
  }
}

}  // namespace

// ---- The encoder -----------------------------------------------------------------------------------------

BertEncoder::BertEncoder(nn::ParameterTable& table, const BertConfig& config)
    : max_length_(config.max_length),
      types_(config.types),
      padding_id_(config.padding_id),
      dropout_(config.dropout) {
  require(config);
  const auto embedding = [&](const char* name, int64_t rows) {
    return table.add({fmt::format("bert.embeddings.{}_embeddings.weight", name),
                      {rows, config.width},
                      {nn::Initialisation::Kind::kNormal, config.deviation},
                      {}});
  };
  words_ = embedding("word", config.vocabulary);
  table.let_quantize(words_.first);
  positions_ = embedding("position", config.max_length);
  type_table_ = embedding("token_type", config.types);
  norm_ = nn::LayerNorm(table, "bert.embeddings.LayerNorm", config.width, config.norm_epsilon);
  const nn::LayerOptions options{.width = config.width,
                                 .heads = config.heads,
                                 .inner_width = config.inner_width,
                                 .activation = config.activation,
                                 .dropout = config.dropout,
                                 .attention_dropout = config.attention_dropout,
                                 .norm_epsilon = config.norm_epsilon};
  for (int n = 0; n < config.layers; ++n) {
    layers_.emplace_back(table, fmt::format("bert.encoder.layer.{}.", n), options, n, layer_names());
  }
  table.expect({.name = "bert.embeddings.position_ids", .values = [](int64_t size) {
                  std::vector<float> places(static_cast<size_t>(size));
                  std::iota(places.begin(), places.end(), 0.0f);
                  return Tensor::from(places, {size});
                }});
}

Var BertEncoder::embed(nn::Context& context, const ClassifierInput& input) const {
  require(input);
  const std::vector<int32_t> places = places_in(input.text, max_length_);
  std::vector<int32_t> types = input.types;
  types.resize(places.size());
  for (const int32_t type : types) {
    if (type < 0 || type >= types_) {
      fail(ErrorKind::kUsage, "the model has {} token types, so token type {} is invalid", types_, type);
    }
  }
  ops::EmbeddingOptions words;
  words.padding_id = padding_id_;
  Var x = nn::embedding(context, words_, input.text.ids, words);                      // (N, D)
  x = ops::add(x, ops::embedding(context.parameter(positions_), id_tensor(places)));  // (N, D)
  x = ops::add(x, ops::embedding(context.parameter(type_table_), id_tensor(types)));  // (N, D)
  return ops::dropout(norm_.forward(context, x), context.next_dropout(dropout_));     // (N, D)
}

Var BertEncoder::forward(nn::Context& context, const ClassifierInput& input) const {
  const auto layout = ops::AttentionLayout::packed(input.text.offsets, input.text.offsets);
  Var x = embed(context, input);  // (N, D)
  for (const nn::TransformerLayer& layer : layers_) x = layer.forward(context, x, layout);
  return x;
}

// ---- A classifier on top ---------------------------------------------------------------------------------

BertClassifier::BertClassifier(const BertConfig& config) : config_(config), encoder_(table_, config) {
  if (config.labels.size() < 2) {
    fail(ErrorKind::kUsage, "a classifier needs at least two classes, not {}", config.labels.size());
  }
  pooler_ = nn::Linear(table_, "bert.pooler.dense", config.width, config.width);
  classifier_ = nn::Linear(table_, "classifier", config.width, classes());
}

Var BertClassifier::encode(nn::Context& context, const ClassifierInput& input) const {
  return encoder_.forward(context, input);
}

Var BertClassifier::pool(nn::Context& context, const Var& hidden, const Sequences& text) const {
  const std::vector<int32_t> first(text.offsets.begin(), text.offsets.end() - 1);
  const Var starts = ops::embedding(hidden, id_tensor(first));                // (N, D) -> (B, D)
  return ops::activate(Activation::kTanh, pooler_.forward(context, starts));  // (B, D)
}

Var BertClassifier::classify(nn::Context& context, const ClassifierInput& input) const {
  const Var pooled = pool(context, encode(context, input), input.text);  // (B, D)
  return classifier_.forward(
      context, ops::dropout(pooled, context.next_dropout(config_.classifier_dropout)));  // (B, classes)
}

Tensor BertClassifier::logits(nn::Context& context, const ClassifierInput& input) const {
  return classify(context, input).value();  // (B, classes)
}

ClassificationLoss BertClassifier::loss(nn::Context& context, const ClassifierInput& input,
                                        const std::vector<int32_t>& labels,
                                        const ClassificationOptions& options) const {
  const auto& weights = options.class_weights;
  if (!weights.empty() && weights.size() != config_.labels.size()) {
    fail(ErrorKind::kShape, "{} class weights for {} classes", weights.size(), classes());
  }
  const Var logits = classify(context, input);  // (B, classes)
  const Var losses = ops::cross_entropy(logits, id_tensor(labels), {.smoothing = options.smoothing});  // (B)

  ClassificationLoss result;
  std::vector<double> factors;  // (B)
  const std::vector<double> all_losses = losses.value().to_vector<double>();
  const std::vector<double> all_logits = logits.value().to_vector<double>();
  for (size_t b = 0; b < labels.size(); ++b) {
    const double weight = weights.empty() ? 1 : static_cast<double>(weights[labels[b]]);
    factors.push_back(weight * options.scale);
    result.weight += weight;
    result.loss_sum += weight * all_losses[b];
    const auto row = all_logits.begin() + static_cast<std::ptrdiff_t>(b) * classes();
    const auto best = std::max_element(row, row + classes());
    double sum = 0;
    for (auto each = row; each != row + classes(); ++each) sum += std::exp(*each - *best);
    result.negative_log_likelihood += *best + std::log(sum) - row[labels[b]];
    result.correct += best - row == labels[b] ? 1 : 0;
  }
  const Shape shape{static_cast<int64_t>(factors.size())};
  result.loss = ops::weighted_sum(losses, Tensor::from(factors, shape).to(losses.dtype()));  // (B) -> (1)
  return result;
}

// ---- A vocabulary on top ---------------------------------------------------------------------------------

BertMaskedLm::BertMaskedLm(const BertConfig& config) : config_(config), encoder_(table_, config) {
  transform_ = nn::Linear(table_, "cls.predictions.transform.dense", config.width, config.width);
  norm_ = nn::LayerNorm(table_, "cls.predictions.transform.LayerNorm", config.width, config.norm_epsilon);
  output_ = nn::Linear(table_, encoder_.words(),
                       table_.add({"cls.predictions.bias",
                                   {config.vocabulary},
                                   {nn::Initialisation::Kind::kZeros},
                                   {"cls.predictions.decoder.bias"}}));
  table_.also_call(encoder_.words().first, "cls.predictions.decoder.weight");
  // Other heads of BERT's pretraining.
  table_.leave_out("bert.pooler.");
  table_.leave_out("cls.seq_relationship.");
}

Tensor BertMaskedLm::logits(nn::Context& context, const ClassifierInput& input,
                            const std::vector<int32_t>& places) const {
  const Var hidden = encoder_.forward(context, input);                    // (N, D)
  Var x = ops::embedding(hidden, id_tensor(places));                      // (places, D)
  x = ops::activate(config_.activation, transform_.forward(context, x));  // (places, D)
  x = norm_.forward(context, x);                                          // (places, D)
  return output_.forward(context, x).value();                             // (places, V)
}

}  // namespace heed::models
