#include "models/formats/ctranslate2_export.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "models/config/transformer_config.h"
#include "models/formats/ctranslate2_rows.h"

namespace heed::models {
namespace {

constexpr char kScale[] = "_scale";  // after the name of a quantized variable

/// Collects the variables of a model by the table of names that reading uses (ctranslate2_rows.h).
class Exporter {
 public:
  Exporter(const LoadedModel& loaded, Ctranslate2Type type) : loaded_(loaded), type_(type) {
    const nn::ParameterTable& table = loaded.model->table();
    for (int row = 0; row < table.size(); ++row) rows_.emplace(table[row].name, row);
  }

  /// A parameter.
  Tensor value(const std::string& name) const {
    return loaded_.values.view(loaded_.model->table(), {rows_.at(name), 1});
  }

  /// `left_out`: the row of tables of tokens that is left out; -1: none.
  void add_rows(const std::vector<Ctranslate2Row>& rows, int32_t left_out) {
    for (const Ctranslate2Row& row : rows) {
      if (row.kind == Ctranslate2Row::Kind::kTable) {
        add_table(row, left_out);
        continue;
      }
      for (const Ctranslate2Suffix& suffix : suffixes_of(row.kind)) {
        if (suffix.optional && !rows_.contains(row.names.front() + suffix.name)) continue;
        std::vector<std::string> names;
        for (const std::string& name : row.names) names.push_back(name + suffix.name);
        add_weights(row.variable + suffix.variable, stacked(names));
      }
    }
  }
  void add_alias(const std::string& alias, const std::string& variable) {
    result_.aliases.emplace_back(alias, variable);
  }
  /// Of a matrix that may be quantized.
  void add_matrix_alias(const std::string& alias, const std::string& variable) {
    add_alias(alias, variable);
    if (quantizes()) add_alias(alias + kScale, variable + kScale);
  }
  void add(const std::string& variable, const Tensor& tensor) {
    const bool half = type_ == Ctranslate2Type::kFloat16, bfloat = type_ == Ctranslate2Type::kBFloat16;
    result_.variables.emplace_back(variable, half     ? tensor.to(DType::kFloat16)
                                             : bfloat ? tensor.to(DType::kBFloat16)
                                                      : tensor);
  }
  // Settings have types of their own, whatever that of the weights is.
  void add_int8(const std::string& variable, int8_t number) {
    result_.variables.emplace_back(variable, Tensor::from<int8_t>({number}, {}));
  }
  void add_int16(const std::string& variable, int32_t number) {
    result_.variables.emplace_back(variable, Tensor::from<int32_t>({number}, {}));
  }
  void add_int32(const std::string& variable, int64_t number) {
    result_.variables.emplace_back(variable, Tensor::from<int32_t>({static_cast<int32_t>(number)}, {}));
    result_.as_int32.insert(variable);
  }
  void add_float(const std::string& variable, double number) {
    result_.variables.emplace_back(variable, Tensor::from<float>({static_cast<float>(number)}, {}));
  }

  Ctranslate2Variables finish(const char* specification, uint32_t revision) {
    result_.specification = specification;
    result_.revision = revision;
    std::sort(result_.variables.begin(), result_.variables.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    return std::move(result_);
  }

 private:
  /// The factor that makes the largest magnitude of some weights the largest integer; 1 where weights are so
  /// small that it is beyond float32, or all 0: they become 0.
  static float scale_for(float largest_integer, float largest_weight) {
    const float scale = largest_integer / largest_weight;
    return std::isfinite(scale) ? scale : 1;
  }
  bool quantizes() const { return type_ == Ctranslate2Type::kInt8 || type_ == Ctranslate2Type::kInt16; }
  /// A matrix of a linear layer or an embedding, which may be quantized: X = rint(scale * weight).
  void add_matrix(const std::string& variable, const Tensor& tensor) {
    if (!quantizes()) return add(variable, tensor);
    const int64_t rows = tensor.dim(0), columns = tensor.dim(1);
    const float* values = tensor.data<float>();
    const auto largest = [&](int64_t begin, int64_t count) {
      float size = 0;
      for (int64_t i = begin; i < begin + count; ++i) size = std::max(size, std::abs(values[i]));
      return size;
    };
    if (type_ == Ctranslate2Type::kInt16) {
      constexpr float kLargest = 1024;  // 10 bits, so that sums of products fit 32 bits
      const float scale = scale_for(kLargest, largest(0, tensor.size()));
      std::vector<int32_t> integers;
      for (int64_t i = 0; i < tensor.size(); ++i)
        integers.push_back(static_cast<int32_t>(std::rint(values[i] * scale)));
      result_.variables.emplace_back(variable, Tensor::from(integers, tensor.shape()));
      result_.variables.emplace_back(variable + kScale, Tensor::from<float>({scale}, {}));
      return;
    }
    std::vector<int8_t> integers;
    std::vector<float> scales;
    for (int64_t row = 0; row < rows; ++row) {
      scales.push_back(scale_for(127, largest(row * columns, columns)));
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        integers.push_back(static_cast<int8_t>(std::rint(values[i] * scales.back())));
    }
    result_.variables.emplace_back(variable, Tensor::from(integers, tensor.shape()));
    result_.variables.emplace_back(variable + kScale, Tensor::from(scales, {rows}));
  }
  void add_weights(const std::string& variable, const Tensor& tensor) {
    tensor.rank() == 2 ? add_matrix(variable, tensor) : add(variable, tensor);
  }
  void add_table(const Ctranslate2Row& row, int32_t left_out) {
    const Tensor tensor = value(row.names.front());
    const bool of_tokens = row.variable == kCtranslate2Embedding ||
                           row.variable == kCtranslate2SourceEmbedding || row.variable == kCtranslate2Output;
    if (of_tokens) {
      const bool all = left_out < 0 || row.variable == kCtranslate2SourceEmbedding;
      return add_matrix(row.variable, all ? tensor : without_row(tensor, left_out));
    }
    if (row.variable == kCtranslate2OutputBias && left_out >= 0)
      return add(row.variable, without_row(tensor, left_out));
    add(row.variable, tensor.narrow(0, row.skipped_rows, tensor.dim(0) - row.skipped_rows).clone());
  }

  /// Parameters stacked along the first axis.
  Tensor stacked(const std::vector<std::string>& names) const {
    std::vector<float> all;
    Shape shape = value(names[0]).shape();
    shape.set(0, 0);
    for (const std::string& name : names) {
      const Tensor part = value(name);
      all.insert(all.end(), part.data<float>(), part.data<float>() + part.size());
      shape.set(0, shape[0] + part.dim(0));
    }
    return Tensor::from(all, shape);
  }
  static Tensor without_row(const Tensor& tensor, int64_t row) {
    const int64_t width = tensor.size() / tensor.dim(0);
    std::vector<float> rows(tensor.data<float>(), tensor.data<float>() + tensor.size());
    const auto begin = rows.begin() + row * width;
    rows.erase(begin, begin + width);
    Shape shape = tensor.shape();
    shape.set(0, shape[0] - 1);
    return Tensor::from(rows, shape);
  }

  const LoadedModel& loaded_;
  Ctranslate2Type type_;
  std::map<std::string, int> rows_;
  Ctranslate2Variables result_;
};

/// CTranslate2's number of an activation.
int8_t number_of(Activation activation) {
  const std::vector<std::optional<Activation>>& all = ctranslate2_activations();
  const auto found = std::ranges::find(all, activation);
  HEED_CHECK(found != all.end());
  return static_cast<int8_t>(found - all.begin());
}

/// What every stack has.
void add_stack_settings(Exporter& exporter, const std::string& stack, int heads, bool norm_first,
                        Activation activation) {
  exporter.add_int16(stack + "/num_heads", heads);
  exporter.add_int8(stack + "/pre_norm", norm_first ? 1 : 0);
  exporter.add_int8(stack + "/activation", number_of(activation));
}

void add_decoder_settings(Exporter& exporter, bool from_zero) {
  for (const char* name : {"alibi", "alibi_use_positive_positions", "scale_alibi"}) {
    exporter.add_int8(std::string("decoder/") + name, 0);
  }
  exporter.add_int8("decoder/start_from_zero_embedding", from_zero ? 1 : 0);
  exporter.add_int16("decoder/alignment_heads", 1);
  exporter.add_int16("decoder/alignment_layer", -1);
}

[[noreturn]] void refuse(const LoadedModel& loaded, const std::string& why) {
  fail(ErrorKind::kUsage, "'{}' ({}) cannot be converted for CTranslate2: {}", loaded.directory(),
       loaded.model_type, why);
}

// ---- Encoder-decoder models ------------------------------------------------------------------------------

/// CTranslate2 has no padding token in Marian models, and starts them from zero.
void require_zero_start(const LoadedModel& loaded, const TransformerConfig& c, const Tensor& embedding) {
  const float* start = embedding.data<float>() + c.start_id * c.width;
  if (c.start_id == c.padding_id &&
      std::all_of(start, start + c.width, [](float number) { return number == 0; })) {
    return;
  }
  fail(ErrorKind::kUsage,
       "'{}': the decoder starts from an embedding that is not zero, but CTranslate2 starts Marian "
       "models from zero and would translate differently",
       loaded.directory());
}

/// Sinusoidal positions, which weights may hold rounded to 16 bits.
void add_computed_positions(Exporter& exporter, const Transformer& model) {
  const std::string encoder = std::string("encoder") + kCtranslate2Positions,
                    decoder = std::string("decoder") + kCtranslate2Positions;
  const int64_t count = model.config().max_length;
  const Tensor source = model.sinusoidal_positions(Stack::kEncoder, count),
               target = model.sinusoidal_positions(Stack::kDecoder, count);
  exporter.add(decoder, target);
  if (source.to_vector<float>() == target.to_vector<float>()) return exporter.add_alias(encoder, decoder);
  exporter.add(encoder, source);
}

/// T5: the layers of a stack share the biases of distances.
void add_bucket_settings(Exporter& exporter, const std::string& stack, int layers, int64_t max_distance) {
  for (int n = 0; n < layers; ++n) {
    const std::string attention = fmt::format("{}/layer_{}/self_attention/", stack, n);
    exporter.add_int32(attention + "relative_attention_max_distance", max_distance);
    if (n == 0) continue;
    exporter.add_alias(attention + "relative_attention_bias",
                       stack + "/layer_0/self_attention/relative_attention_bias");
  }
}

Ctranslate2Variables transformer_variables(const LoadedModel& loaded, const Transformer& model,
                                           Ctranslate2Type type) {
  const TransformerConfig& c = model.config();
  const bool marian = c.family == &marian_family();
  if (marian && !is_post_norm_marian(c))
    refuse(loaded, "CTranslate2 has Marian models only with Marian's options");
  Exporter exporter(loaded, type);
  const std::vector<Ctranslate2Row> rows = ctranslate2_rows(c);
  if (marian) {
    const auto target = std::ranges::find(rows, kCtranslate2Embedding, &Ctranslate2Row::variable);
    require_zero_start(loaded, c, exporter.value(target->names.front()));
  }
  exporter.add_rows(rows, marian ? c.padding_id : -1);
  if (c.share_embeddings) exporter.add_matrix_alias(kCtranslate2SourceEmbedding, kCtranslate2Embedding);
  if (c.tied_output) exporter.add_matrix_alias(kCtranslate2Output, kCtranslate2Embedding);
  if (c.positions.kind == nn::PositionKind::kSinusoidal) add_computed_positions(exporter, model);
  for (const auto& [stack, layers, heads] : {std::tuple{"encoder", c.encoder_layers, c.encoder_heads},
                                             {"decoder", c.decoder_layers, c.decoder_heads}}) {
    const std::string name = stack;
    add_stack_settings(exporter, name, heads, c.norm_first, c.activation);
    exporter.add_float(name + "/scale_embeddings",
                       c.scale_embedding ? std::sqrt(static_cast<double>(c.width)) : 1);
    if (c.positions.kind == nn::PositionKind::kBuckets)
      add_bucket_settings(exporter, name, layers, c.positions.bucket_max_distance);
    for (int n = 0; c.score_scale > 0 && n < layers; ++n) {
      const std::string layer = fmt::format("{}/layer_{}/", name, n);
      exporter.add_float(layer + "self_attention/queries_scale", c.score_scale);
      if (name == "decoder") exporter.add_float(layer + "attention/queries_scale", c.score_scale);
    }
  }
  if (c.output_scale != 1) exporter.add_float("decoder/scale_outputs", c.output_scale);
  exporter.add_int8("encoder/embeddings_merge", 0);
  exporter.add_int8("encoder/multi_query_attention", 0);
  add_decoder_settings(exporter, marian);
  return exporter.finish("TransformerSpec", 7);
}

// ---- Language models -------------------------------------------------------------------------------------

void require_decoder(const LoadedModel& loaded, const DecoderOnlyConfig& c) {
  const nn::LayerNames& names = c.family->layer_names;
  const bool sandwich = !names.self_attention_norm.output_norm.empty();
  if (c.score_cap != 0 || (sandwich && names.self_attention.query_norm.empty())) {
    refuse(loaded,
           "CTranslate2 does not store the soft cap of attention scores (attn_logit_softcapping) and the "
           "windows of Gemma 2");
  }
  if (!c.scaled_scores || c.scaled_by_layer)
    refuse(loaded, "its attention scores are not scaled by 1 / sqrt(d_k)");
  // Windows of other families are not read again (ctranslate2_decoder.cc).
  if (!c.sliding.empty() && c.family->model_type != "mistral" && !sandwich)
    refuse(loaded, "CTranslate2 has sliding windows in Mistral and Gemma 3 only (use_sliding_window)");
  using Scaling = ops::RotaryScaling::Kind;
  for (const Rotary& rotary : {c.rotary, c.sliding_rotary}) {
    if (rotary.scaling.kind != Scaling::kNone && rotary.scaling.kind != Scaling::kLinear)
      refuse(loaded, "CTranslate2 does not store all parameters of its scaled rotary positions (rope_type)");
  }
}

void add_rotary_settings(Exporter& exporter, const std::string& attention, const Rotary& rotary) {
  exporter.add_int32(attention + "rotary_dim", 0);  // the whole head
  exporter.add_int8(attention + "rotary_interleave", 0);
  exporter.add_float(attention + "rotary_base", rotary.base);
  if (rotary.scaling.kind == ops::RotaryScaling::Kind::kNone) return;
  exporter.add_int8(attention + "rotary_scaling_type", 0);  // linear
  exporter.add_float(attention + "rotary_scaling_factor", rotary.scaling.factor);
}

Ctranslate2Variables decoder_variables(const LoadedModel& loaded, const DecoderOnlyConfig& c,
                                       Ctranslate2Type type) {
  require_decoder(loaded, c);
  Exporter exporter(loaded, type);
  const std::vector<Ctranslate2Row> rows = ctranslate2_rows(c);
  exporter.add_rows(rows, -1);
  if (c.tied_output) exporter.add_matrix_alias(kCtranslate2Output, kCtranslate2Embedding);
  add_stack_settings(exporter, "decoder", c.heads, true, c.activation);
  if (c.embedding_scale == 1) {
    exporter.add_int8("decoder/scale_embeddings", 0);
  } else {
    exporter.add_float("decoder/scale_embeddings", c.embedding_scale);
  }
  if (c.logit_cap != 0) exporter.add_float("decoder/final_logit_softcapping", c.logit_cap);
  for (const Ctranslate2Row& row : rows) {
    const bool has_offset = row.kind == Ctranslate2Row::Kind::kNorm && c.family->norm_weight_offset == 1;
    if (has_offset) exporter.add_int8(row.variable + kCtranslate2NormOffset, 1);
  }
  if (!c.sliding.empty()) exporter.add_int32("decoder/sliding_window", c.window);
  for (int n = 0; n < c.layers; ++n) {
    const std::string attention = fmt::format("decoder/layer_{}/self_attention/", n);
    if (c.actual_key_value_heads() != c.heads)
      exporter.add_int32(attention + "num_heads_kv", c.actual_key_value_heads());
    if (c.head_width > 0 && c.head_width * c.heads != c.width)
      exporter.add_int32(attention + "head_dim", c.head_width);
    if (!c.sliding.empty()) exporter.add_int32(attention + "sliding_window", c.slides(n) ? c.window : 0);
    if (c.score_scale != 0) exporter.add_float(attention + "queries_scale", c.score_scale);
    if (c.family->positions.empty()) add_rotary_settings(exporter, attention, c.rotary_of(n));
  }
  add_decoder_settings(exporter, false);
  return exporter.finish("TransformerDecoderSpec", 8);
}

}  // namespace

Ctranslate2Variables ctranslate2_variables(const LoadedModel& loaded, Ctranslate2Type type) {
  if (const auto* model = dynamic_cast<const Transformer*>(loaded.model.get()))
    return transformer_variables(loaded, *model, type);
  if (const auto* model = dynamic_cast<const DecoderOnly*>(loaded.model.get()))
    return decoder_variables(loaded, model->config(), type);
  refuse(loaded, "only encoder-decoder Transformers and language models can");
}

Ctranslate2Options ctranslate2_options(const LoadedModel& loaded) {
  constexpr double kUsualEpsilon = 1e-5;
  Ctranslate2Options options;
  if (const auto* model = dynamic_cast<const Transformer*>(loaded.model.get())) {
    if (model->config().norm_epsilon != kUsualEpsilon) options.norm_epsilon = model->config().norm_epsilon;
    options.marian = model->config().family == &marian_family();
  }
  if (const auto* model = dynamic_cast<const DecoderOnly*>(loaded.model.get())) {
    options.norm_epsilon = model->config().norm_epsilon;
    options.grouped_queries = model->config().actual_key_value_heads() != model->config().heads;
  }
  return options;
}

}  // namespace heed::models
