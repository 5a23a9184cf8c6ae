#include "models/stacks/encoder_heads.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "models/embedding_indices.h"
#include "nn/linear.h"
#include "ops/attention/attention.h"
#include "ops/attention/weighted_sum.h"
#include "ops/cross_entropy.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"

namespace heed::models {
namespace {

nn::Norm head_norm(nn::ParameterTable& table, const std::string& name, const EncoderOnlyConfig& config) {
  return {table, name, config.width, {.epsilon = config.norm_epsilon, .bias = config.norm_bias}};
}

/// The vectors of the first tokens: (N, D) -> (B, D).
Var first_tokens(const Var& hidden, const Sequences& text) {
  const std::vector<int32_t> first(text.offsets.begin(), text.offsets.end() - 1);
  return ops::embedding(hidden, id_tensor(first));
}

/// The mean of each text, as attention of one query to all tokens with equal weights: (N, D) -> (B, D).
Var mean_of_tokens(const Var& hidden, const Sequences& text) {
  std::vector<int32_t> queries;
  std::vector<double> weights;
  for (int b = 0; b <= text.count(); ++b) queries.push_back(b);
  for (int b = 0; b < text.count(); ++b) {
    weights.insert(weights.end(), text[b].size(), 1 / static_cast<double>(text[b].size()));
  }
  const Shape shape{static_cast<int64_t>(weights.size())};
  const ops::AttentionOperands operands{.value = {hidden, 0, hidden.dim(1)}};
  return ops::attention_mix(Tensor::from(weights, shape).to(hidden.dtype()), operands,
                            ops::AttentionLayout::packed(queries, text.offsets));
}

}  // namespace

// ---- A classifier ----------------------------------------------------------------------------------------

EncoderClassifier::EncoderClassifier(const EncoderOnlyConfig& config) : WithEncoderStack(config) {
  HEED_CHECK(config.head == EncoderHead::kClassifier);
  if (config.labels.size() < 2) {
    fail(ErrorKind::kUsage, "a classifier needs at least two classes, not {}", config.labels.size());
  }
  const EncoderOnlyFamily::ClassifierHead& head = config.family->classifier;
  dense_ = nn::Linear(table_, head.dense, config.width, config.width, config.head_bias);
  accept_without_prefix(dense_.weight());
  accept_without_prefix(dense_.bias());
  if (!head.norm.empty()) norm_ = head_norm(table_, head.norm, config);
  output_ = nn::Linear(table_, head.output, config.width, classes());
}

/// BERT's pooler is a part of the encoder, which files may hold without the family's prefix.
void EncoderClassifier::accept_without_prefix(nn::ParamRef parameter) {
  const std::string& prefix = config_.family->prefix;
  if (!parameter.defined() || !config_.family->classifier.dense.starts_with(prefix)) return;
  table_.add_alias(parameter.first, table_[parameter.first].name.substr(prefix.size()));
}

Var EncoderClassifier::pool(nn::Context& context, const Var& hidden, const Sequences& text) const {
  const EncoderOnlyFamily::ClassifierHead& head = config_.family->classifier;
  Var x = config_.pooling == EncoderPooling::kFirst ? first_tokens(hidden, text)
                                                    : mean_of_tokens(hidden, text);  // (B, D)
  if (head.dropout_before_dense) x = ops::dropout(x, context.next_dropout(config_.classifier_dropout));
  x = ops::activate(config_.classifier_activation, dense_.forward(context, x));  // (B, D)
  return norm_ ? norm_->forward(context, x) : x;                                 // (B, D)
}

Var EncoderClassifier::class_logits(nn::Context& context, const EncoderInput& input) const {
  const Var pooled = pool(context, encode(context, input), input.text);  // (B, D)
  return output_.forward(
      context, ops::dropout(pooled, context.next_dropout(config_.classifier_dropout)));  // (B, classes)
}

Tensor EncoderClassifier::logits(nn::Context& context, const EncoderInput& input) const {
  return class_logits(context, input).value();  // (B, classes)
}

ClassificationLoss EncoderClassifier::loss(nn::Context& context, const EncoderInput& input,
                                           const std::vector<int32_t>& labels,
                                           const ClassificationOptions& options) const {
  const auto& weights = options.class_weights;
  if (!weights.empty() && weights.size() != config_.labels.size()) {
    fail(ErrorKind::kShape, "{} class weights for {} classes", weights.size(), classes());
  }
  const Var logits = class_logits(context, input);  // (B, classes)
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

// ---- A masked language model -----------------------------------------------------------------------------

EncoderMaskedLm::EncoderMaskedLm(const EncoderOnlyConfig& config) : WithEncoderStack(config) {
  HEED_CHECK(config.head == EncoderHead::kVocabulary);
  const EncoderOnlyFamily::VocabularyHead& head = config.family->vocabulary;
  dense_ = nn::Linear(table_, head.dense, config.width, config.width, config.head_bias);
  norm_ = head_norm(table_, head.norm, config);
  nn::ParamRef weight = stack_.words(), bias;
  if (config.tied_output) {
    table_.add_alias(weight.first, head.weight);
  } else {
    weight = table_.add({head.weight, {config.vocabulary, config.width}, {}, {}});
    table_.set_fewest_bits(weight.first, 8);
  }
  if (config.vocabulary_bias) {
    // Where the output is not tied, files may hold a bias under each of two names: that of the output counts.
    const bool apart = !config.tied_output && !head.other_bias.empty();
    bias = table_.add(
        {apart ? head.other_bias : head.bias, {config.vocabulary}, {nn::Initialization::Kind::kZeros}, {}});
    if (apart) table_.ignore_prefix(head.bias);
    if (!apart && !head.other_bias.empty()) table_.add_alias(bias.first, head.other_bias);
  }
  output_ = nn::Linear(table_, weight, bias);
  for (const std::string& part : head.left_out) table_.ignore_prefix(part);
}

Tensor EncoderMaskedLm::logits(nn::Context& context, const EncoderInput& input,
                               const std::vector<int32_t>& positions) const {
  const Var x = ops::embedding(encode(context, input), id_tensor(positions));  // (N, D) -> (positions, D)
  return vocabulary_logits(context, x).value();                                // (positions, V)
}

Var EncoderMaskedLm::vocabulary_logits(nn::Context& context, const Var& hidden) const {
  const Var x = ops::activate(config_.vocabulary_activation, dense_.forward(context, hidden));  // (N, D)
  return output_.forward(context, norm_.forward(context, x));                                   // (N, V)
}

}  // namespace heed::models
