#include "models/formats/ctranslate2_rows.h"

#include "base/check.h"

namespace heed::models {
namespace {

using Kind = Ctranslate2Row::Kind;

/// Appends the rows of a layer.
class LayerRows {
 public:
  /// `variable` and `name` are before the names of the layer's parts.
  LayerRows(std::vector<Ctranslate2Row>& rows, std::string variable, std::string name, bool transposed)
      : rows_(rows), variable_(std::move(variable)), name_(std::move(name)), transposed_(transposed) {}

  /// Queries, keys and values are one matrix, with `head_rows` rows each.
  void self_attention(const nn::MultiHeadAttention::Names& names, const std::vector<int64_t>& head_rows) {
    if (names.joined.empty()) {
      matrix("self_attention/linear_0", {names.query, names.key, names.value}, head_rows);
    } else {
      matrix("self_attention/linear_0", {names.joined});
    }
    matrix("self_attention/linear_1", {names.output});
    norm("self_attention/q_norm", names.query_norm);
    norm("self_attention/k_norm", names.key_norm);
  }
  void cross_attention(const nn::MultiHeadAttention::Names& names) {
    matrix("attention/linear_0", {names.query});
    matrix("attention/linear_1", {names.key, names.value});
    matrix("attention/linear_2", {names.output});
  }
  void feed_forward(const nn::LayerNames& names) {
    matrix("ffn/linear_0", {names.gate.empty() ? names.first : names.gate});
    if (!names.gate.empty()) matrix("ffn/linear_0_noact", {names.first});
    matrix("ffn/linear_1", {names.second});
  }
  void norm(const std::string& variable, const std::string& name) {
    if (!name.empty()) rows_.push_back({Kind::kNorm, variable_ + variable, {name_ + name}});
  }

 private:
  void matrix(const std::string& variable, std::vector<std::string> names, std::vector<int64_t> rows = {}) {
    for (std::string& name : names) name = name_ + name;
    rows_.push_back({Kind::kMatrix, variable_ + variable, std::move(names), std::move(rows), transposed_});
  }

  std::vector<Ctranslate2Row>& rows_;
  std::string variable_, name_;
  bool transposed_;
};

/// One stack of an encoder-decoder model; `variable` is "encoder" or "decoder".
void add_stack(std::vector<Ctranslate2Row>& rows, const TransformerConfig& c, const StackNames& names,
               const std::string& variable) {
  const bool decoder = variable == "decoder";
  if (c.positions.kind == nn::PositionKind::kLearned) {
    rows.push_back({Kind::kTable,
                    variable + kCtranslate2Positions,
                    {names.positions + "embed_positions.weight"},
                    {},
                    false,
                    c.first_row});
  }
  if (c.positions.kind == nn::PositionKind::kBuckets) {
    rows.push_back({Kind::kTable,
                    variable + "/layer_0/self_attention/relative_attention_bias",
                    {names.positions + "relative_attention_bias.weight"}});
  }
  if (!names.embedding_norm.empty()) {
    rows.push_back({Kind::kNorm, variable + "/layernorm_embedding", {names.embedding_norm}});
  }
  const nn::LayerNames& parts = names.layer_names;
  for (int n = 0; n < (decoder ? c.decoder_layers : c.encoder_layers); ++n) {
    LayerRows layer(rows, fmt::format("{}/layer_{}/", variable, n), fmt::format("{}{}.", names.layer, n),
                    false);
    layer.self_attention(parts.self_attention, {});
    layer.norm("self_attention/layer_norm", parts.self_attention_norm.norm);
    if (decoder) {
      layer.cross_attention(parts.cross_attention);
      layer.norm("attention/layer_norm", parts.cross_attention_norm.norm);
    }
    layer.feed_forward(parts);
    layer.norm("ffn/layer_norm", parts.feed_forward_norm.norm);
  }
  if (c.norm_first) rows.push_back({Kind::kNorm, variable + "/layer_norm", {names.final_norm}});
}

}  // namespace

const std::vector<std::optional<Activation>>& ctranslate2_activations() {
  static const std::vector<std::optional<Activation>> all{Activation::kRelu,  Activation::kGeluTanh,
                                                          Activation::kSwish, Activation::kGelu,
                                                          std::nullopt,  // x sigmoid(1.702 x)
                                                          Activation::kTanh,  Activation::kSigmoid};
  return all;
}

std::vector<Ctranslate2Suffix> suffixes_of(Kind kind) {
  switch (kind) {
    case Kind::kMatrix:
      return {{"/weight", ".weight", false}, {"/bias", ".bias", true}};
    case Kind::kNorm:
      return {{"/gamma", ".weight", false}, {"/beta", ".bias", true}};
    case Kind::kTable:
      return {{"", "", false}};
  }
  HEED_CHECK(false);
}

std::vector<Ctranslate2Row> ctranslate2_rows(const TransformerConfig& c) {
  const TransformerFamily& family = *c.family;
  std::vector<Ctranslate2Row> rows;
  const auto add_table = [&](const char* variable, const std::string& name) {
    rows.push_back({Kind::kTable, variable, {name}});
  };
  if (c.share_embeddings) {
    add_table(kCtranslate2Embedding, family.shared_embedding);
  } else {
    add_table(kCtranslate2SourceEmbedding, family.encoder.embedding);
    add_table(kCtranslate2Embedding, family.decoder.embedding);
  }
  if (!c.tied_output) add_table(kCtranslate2Output, "lm_head.weight");
  if (c.output_bias) add_table(kCtranslate2OutputBias, "final_logits_bias");
  add_stack(rows, c, family.encoder, "encoder");
  add_stack(rows, c, family.decoder, "decoder");
  return rows;
}

std::vector<Ctranslate2Row> ctranslate2_rows(const DecoderOnlyConfig& c) {
  const DecoderOnlyFamily& family = *c.family;
  const int64_t width = c.actual_head_width(), keys = width * c.actual_key_value_heads();
  std::vector<Ctranslate2Row> rows;
  rows.push_back({Kind::kTable, kCtranslate2Embedding, {family.embedding + ".weight"}});
  if (!family.positions.empty()) {
    rows.push_back(
        {Kind::kTable, std::string("decoder") + kCtranslate2Positions, {family.positions + ".weight"}});
  }
  if (!c.tied_output) rows.push_back({Kind::kTable, kCtranslate2Output, {family.output + ".weight"}});
  const nn::LayerNames& parts = family.layer_names;
  for (int n = 0; n < c.layers; ++n) {
    LayerRows layer(rows, fmt::format("decoder/layer_{}/", n), fmt::format("{}{}.", family.layer, n),
                    family.transposed_layers);
    layer.self_attention(parts.self_attention, {width * c.heads, keys, keys});
    const bool sandwich = !parts.self_attention_norm.output_norm.empty();
    layer.norm(sandwich ? "input_layer_norm" : "self_attention/layer_norm", parts.self_attention_norm.norm);
    layer.norm("post_attention_layer_norm", parts.self_attention_norm.output_norm);
    layer.feed_forward(parts);
    layer.norm(sandwich ? "pre_feedforward_layer_norm" : "ffn/layer_norm", parts.feed_forward_norm.norm);
    layer.norm("post_feedforward_layer_norm", parts.feed_forward_norm.output_norm);
  }
  rows.push_back({Kind::kNorm, "decoder/layer_norm", {family.final_norm}});
  return rows;
}

}  // namespace heed::models
