#include "models/ctranslate2_export.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/check.h"
#include "models/transformer.h"
#include "models/transformer_config.h"
#include "nn/sinusoids.h"

namespace heed::models {
namespace {

constexpr char kScale[] = "_scale";  // after the name of a quantized variable

/// The inverse of the mapping in ctranslate2_model.cc.
class Exporter {
 public:
  Exporter(const LoadedModel& loaded, const TransformerConfig& config, Ctranslate2Type type)
      : loaded_(loaded), config_(config), type_(type) {
    const nn::ParameterTable& table = loaded.model->table();
    for (int row = 0; row < table.size(); ++row) rows_.emplace(table[row].name, row);
  }

  Ctranslate2Variables run() {
    add_embeddings();
    add_stack("encoder", "model.encoder.", config_.encoder_layers, config_.encoder_heads, false);
    add_stack("decoder", "model.decoder.", config_.decoder_layers, config_.decoder_heads, true);
    add_setting("encoder/embeddings_merge", 0);
    add_setting("encoder/multi_query_attention", 0);
    for (const char* name : {"alibi", "alibi_use_positive_positions", "scale_alibi"}) {
      add_setting(std::string("decoder/") + name, 0);
    }
    add_setting("decoder/start_from_zero_embedding", 1);
    add_number("decoder/alignment_heads", 1);
    add_number("decoder/alignment_layer", -1);
    std::sort(result_.variables.begin(), result_.variables.end(),
              [](const auto& left, const auto& right) { return left.first < right.first; });
    return std::move(result_);
  }

 private:
  Tensor value(const std::string& name) const {
    return loaded_.values.view(loaded_.model->table(), {rows_.at(name), 1});
  }
  void add(const std::string& variable, const Tensor& tensor) {
    const bool half = type_ == Ctranslate2Type::kFloat16, bfloat = type_ == Ctranslate2Type::kBFloat16;
    result_.variables.emplace_back(variable, half     ? tensor.to(DType::kFloat16)
                                             : bfloat ? tensor.to(DType::kBFloat16)
                                                      : tensor);
  }
  /// A matrix of a linear layer or an embedding, which may be quantized: X = rint(scale * weight).
  void add_matrix(const std::string& variable, const Tensor& tensor) {
    if (type_ != Ctranslate2Type::kInt8 && type_ != Ctranslate2Type::kInt16) return add(variable, tensor);
    const int64_t rows = tensor.dim(0), columns = tensor.dim(1);
    const float* values = tensor.data<float>();
    const auto largest = [&](int64_t begin, int64_t count) {
      float size = 0;
      for (int64_t i = begin; i < begin + count; ++i) size = std::max(size, std::abs(values[i]));
      return size;
    };
    if (type_ == Ctranslate2Type::kInt16) {
      constexpr float kLargest = 1024;  // 10 bits, so that sums of products fit 32 bits
      const float size = largest(0, tensor.size()), scale = size == 0 ? 1 : kLargest / size;
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
      const float size = largest(row * columns, columns);
      scales.push_back(size == 0 ? 1 : 127 / size);
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        integers.push_back(static_cast<int8_t>(std::rint(values[i] * scales.back())));
    }
    result_.variables.emplace_back(variable, Tensor::from(integers, tensor.shape()));
    result_.variables.emplace_back(variable + kScale, Tensor::from(scales, {rows}));
  }
  void add_matrix_alias(const std::string& alias, const std::string& variable) {
    result_.aliases.emplace_back(alias, variable);
    if (type_ == Ctranslate2Type::kInt8 || type_ == Ctranslate2Type::kInt16)
      result_.aliases.emplace_back(alias + kScale, variable + kScale);
  }
  void add_setting(const std::string& variable, int8_t number) {
    result_.variables.emplace_back(variable, Tensor::from<int8_t>({number}, {}));
  }
  void add_number(const std::string& variable, int32_t number) {
    result_.variables.emplace_back(variable, Tensor::from<int32_t>({number}, {}));
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
  void add_linear(const std::string& variable, const std::string& prefix,
                  const std::vector<std::string>& names) {
    for (const char* kind : {"weight", "bias"}) {
      std::vector<std::string> full;
      for (const std::string& name : names) full.push_back(prefix + name + "." + kind);
      const Tensor all = stacked(full);
      all.rank() == 2 ? add_matrix(variable + "/" + kind, all) : add(variable + "/" + kind, all);
    }
  }
  void add_norm(const std::string& variable, const std::string& name) {
    add(variable + "/gamma", value(name + ".weight"));
    add(variable + "/beta", value(name + ".bias"));
  }

  /// Without the row of the padding token.
  Tensor without_padding(const Tensor& tensor) const {
    const int64_t width = tensor.size() / tensor.dim(0);
    std::vector<float> rows(tensor.data<float>(), tensor.data<float>() + tensor.size());
    const auto begin = rows.begin() + config_.padding_id * width;
    rows.erase(begin, begin + width);
    Shape shape = tensor.shape();
    shape.set(0, shape[0] - 1);
    return Tensor::from(rows, shape);
  }

  void add_embeddings() {
    const std::string target =
        config_.share_embeddings ? "model.shared.weight" : "model.decoder.embed_tokens.weight";
    const Tensor embedding = value(target);
    const float* start = embedding.data<float>() + config_.start_id * config_.width;
    if (config_.start_id != config_.padding_id ||
        std::any_of(start, start + config_.width, [](float number) { return number != 0; })) {
      fail(ErrorKind::kUsage,
           "'{}': the decoder starts from an embedding that is not zero, but CTranslate2 starts Marian "
           "models from zero and would translate differently",
           loaded_.directory);
    }
    add_matrix("decoder/embeddings/weight", without_padding(embedding));
    if (config_.share_embeddings) {
      add_matrix_alias("encoder/embeddings_0/weight", "decoder/embeddings/weight");
    } else {
      add_matrix("encoder/embeddings_0/weight", value("model.encoder.embed_tokens.weight"));
    }
    if (config_.tied_output) {
      add_matrix_alias("decoder/projection/weight", "decoder/embeddings/weight");
    } else {
      add_matrix("decoder/projection/weight", without_padding(value("lm_head.weight")));
    }
    add("decoder/projection/bias", without_padding(value("final_logits_bias")));
    add("decoder/position_encodings/encodings",
        nn::sinusoid_table(config_.max_length, config_.width, SinusoidLayout::kHalves));
    result_.aliases.emplace_back("encoder/position_encodings/encodings",
                                 "decoder/position_encodings/encodings");
  }

  void add_stack(const std::string& stack, const std::string& prefix, int layers, int heads, bool cross) {
    for (int n = 0; n < layers; ++n) {
      const std::string from = fmt::format("{}layers.{}.", prefix, n),
                        to = fmt::format("{}/layer_{}/", stack, n);
      add_linear(to + "self_attention/linear_0", from + "self_attn.", {"q_proj", "k_proj", "v_proj"});
      add_linear(to + "self_attention/linear_1", from + "self_attn.", {"out_proj"});
      add_norm(to + "self_attention/layer_norm", from + "self_attn_layer_norm");
      if (cross) {
        add_linear(to + "attention/linear_0", from + "encoder_attn.", {"q_proj"});
        add_linear(to + "attention/linear_1", from + "encoder_attn.", {"k_proj", "v_proj"});
        add_linear(to + "attention/linear_2", from + "encoder_attn.", {"out_proj"});
        add_norm(to + "attention/layer_norm", from + "encoder_attn_layer_norm");
      }
      add_linear(to + "ffn/linear_0", from, {"fc1"});
      add_linear(to + "ffn/linear_1", from, {"fc2"});
      add_norm(to + "ffn/layer_norm", from + "final_layer_norm");
    }
    const double scale = config_.scale_embedding ? std::sqrt(static_cast<double>(config_.width)) : 1;
    result_.variables.emplace_back(stack + "/scale_embeddings",
                                   Tensor::from<float>({static_cast<float>(scale)}, {}));
    add_number(stack + "/num_heads", heads);
    add_setting(stack + "/pre_norm", 0);
    add_setting(stack + "/activation", activation());
  }

  /// CTranslate2's number of the activation.
  int8_t activation() const {
    switch (config_.activation) {
      case Activation::kRelu:
        return 0;
      case Activation::kGeluTanh:
        return 1;
      case Activation::kSwish:
        return 2;
      case Activation::kGelu:
        return 3;
      case Activation::kTanh:
        return 5;
      case Activation::kSigmoid:
        return 6;
    }
    HEED_CHECK(false);
  }

  const LoadedModel& loaded_;
  const TransformerConfig& config_;
  Ctranslate2Type type_;
  std::map<std::string, int> rows_;
  Ctranslate2Variables result_;
};

}  // namespace

Ctranslate2Variables ctranslate2_variables(const LoadedModel& loaded, Ctranslate2Type type) {
  const auto* transformer = dynamic_cast<const Transformer*>(loaded.model.get());
  if (transformer == nullptr || !is_marian(transformer->config())) {
    fail(ErrorKind::kUsage, "'{}' ({}) cannot be converted for CTranslate2: only Marian models can",
         loaded.directory, loaded.model_type);
  }
  return Exporter(loaded, transformer->config(), type).run();
}

}  // namespace heed::models
