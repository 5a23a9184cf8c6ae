#include "models/ctranslate2_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/string_list.h"
#include "io/ctranslate2_file.h"
#include "models/ctranslate2_decoder.h"
#include "models/ctranslate2_mapping.h"

namespace heed::models {
namespace {

constexpr char kFile[] = "/model.bin";
constexpr char kPad[] = "<pad>";

/// Finds what a Marian model needs in a file, and whether there is anything else.
class Mapper : public Ctranslate2Mapper {
 public:
  using Ctranslate2Mapper::Ctranslate2Mapper;

  nlohmann::ordered_json map() {
    config_["model_type"] = "marian";
    config_["architectures"] = {"MarianMTModel"};
    map_vocabularies();
    map_stack("encoder", "model.encoder.", false);
    map_stack("decoder", "model.decoder.", true);
    require_all_used();
    return std::move(config_);
  }

 private:
  /// The encoder's and the decoder's value, which have to be equal.
  double common_setting(const std::string& name, std::optional<double> fallback = {}) {
    const double value = setting("encoder/" + name, fallback);
    if (setting("decoder/" + name, fallback) != value)
      refuse(fmt::format("'{}' differs between encoder and decoder", name));
    return value;
  }

  /// Embeddings, output layer, and the ids of special tokens.
  void map_vocabularies() {
    const std::string decoder = "decoder/embeddings/weight", output = "decoder/projection/weight";
    const std::string encoder =
        file_.has("encoder/embeddings/weight") ? "encoder/embeddings/weight" : "encoder/embeddings_0/weight";
    const auto rows_of = [&](const std::string& variable) {
      if (shape_of(variable).rank() != 2) refuse(fmt::format("'{}' is not a matrix", variable));
      return shape_of(variable)[0];
    };
    const bool shared = file_.variable(encoder) == file_.variable(decoder);
    const bool tied = file_.variable(output) == file_.variable(decoder);
    const bool joint = has_string_list(directory_ + "/shared_vocabulary");
    const auto source = vocabulary_of(joint ? "shared" : "source", rows_of(encoder));
    auto target = vocabulary_of(joint ? "shared" : "target", rows_of(decoder));
    rows_of(output);

    const JsonObject json = JsonObject::read(directory_ + "/config.json");
    if (json.boolean("add_source_bos", false)) json.reject("add_source_bos", "false");
    if (std::abs(json.number("layer_norm_epsilon", {}, 1e-5) - 1e-5) > 1e-9)
      json.reject("layer_norm_epsilon", "1e-5");
    const int64_t end = id_of(target, json.string("eos_token", "</s>"));
    const bool from_zero = setting("decoder/start_from_zero_embedding", 0) != 0;
    const bool padded = std::ranges::count(target, kPad) > 0;
    if (from_zero && padded)
      refuse("it starts from a zero embedding, although its vocabulary has a padding token");
    if (!padded) target.emplace_back(kPad);
    const int64_t pad = id_of(target, kPad);
    const int64_t start = from_zero ? pad : id_of(target, json.string("decoder_start_token", "</s>"));
    const int64_t target_zeros = padded ? 0 : 1, source_zeros = std::ranges::count(source, kPad) > 0 ? 0 : 1;

    const auto take_padded = [&](const std::string& name, const std::string& variable, int64_t zero_rows) {
      take(name, variable);
      rows_.back().zero_rows = zero_rows;
    };
    if (shared) {
      take_padded("model.shared.weight", decoder, target_zeros);
      used_.insert(encoder);
    } else {
      take_padded("model.encoder.embed_tokens.weight", encoder, source_zeros);
      take_padded("model.decoder.embed_tokens.weight", decoder, target_zeros);
    }
    if (!tied) take_padded("lm_head.weight", output, target_zeros);
    used_.insert(output);
    if (file_.has("decoder/projection/bias")) {
      take_padded("final_logits_bias", "decoder/projection/bias", target_zeros);
    } else {
      rows_.push_back({"final_logits_bias", "", 0, 0, static_cast<int64_t>(target.size())});
    }
    const int64_t width = shape_of(decoder)[1];
    const double scale = common_setting("scale_embeddings", 1);
    // A factor, in older files a flag.
    const bool flag =
        file_.has("decoder/scale_embeddings") && file_.info("decoder/scale_embeddings").type == "I8";
    const bool scaled = flag ? scale != 0 : std::abs(scale - std::sqrt(static_cast<double>(width))) < 1e-3;
    if (!flag && !scaled && scale != 1) refuse(fmt::format("embeddings are multiplied by {}", scale));
    config_["vocab_size"] = static_cast<int64_t>(source.size()) + source_zeros;
    config_["decoder_vocab_size"] = static_cast<int64_t>(target.size());
    config_["d_model"] = width;
    config_["scale_embedding"] = scaled;
    config_["share_encoder_decoder_embeddings"] = shared;
    config_["tie_word_embeddings"] = tied;
    config_["pad_token_id"] = pad;
    config_["bos_token_id"] = config_["eos_token_id"] = config_["forced_eos_token_id"] = end;
    config_["decoder_start_token_id"] = start;
    config_["bad_words_ids"] = {{pad}};
    config_["renormalize_logits"] = true;
    config_["num_beams"] = 4;  // a usual value; CTranslate2 stores none
    config_["dropout"] = 0.1;
  }

  void map_stack(const std::string& stack, const std::string& prefix, bool cross) {
    int layers = 0;
    for (; file_.has(fmt::format("{}/layer_{}/ffn/linear_0/weight", stack, layers)); ++layers) {
      const std::string from = fmt::format("{}/layer_{}/", stack, layers);
      const std::string to = fmt::format("{}layers.{}.", prefix, layers);
      const char* projections[] = {"q_proj", "k_proj", "v_proj"};
      for (int n = 0; n < 3; ++n) {
        take_linear(to + "self_attn." + projections[n], from + "self_attention/linear_0", n, 3);
      }
      take_linear(to + "self_attn.out_proj", from + "self_attention/linear_1");
      take_norm(to + "self_attn_layer_norm", from + "self_attention/layer_norm");
      if (cross) {
        take_linear(to + "encoder_attn.q_proj", from + "attention/linear_0");
        take_linear(to + "encoder_attn.k_proj", from + "attention/linear_1", 0, 2);
        take_linear(to + "encoder_attn.v_proj", from + "attention/linear_1", 1, 2);
        take_linear(to + "encoder_attn.out_proj", from + "attention/linear_2");
        take_norm(to + "encoder_attn_layer_norm", from + "attention/layer_norm");
      }
      take_linear(to + "fc1", from + "ffn/linear_0");
      take_linear(to + "fc2", from + "ffn/linear_1");
      take_norm(to + "final_layer_norm", from + "ffn/layer_norm");
    }
    if (layers == 0) refuse(fmt::format("the {} has no layers", stack));
    const std::string positions = stack + "/position_encodings/encodings";
    if (shape_of(positions).rank() != 2) refuse(fmt::format("'{}' is not a matrix", positions));
    take(prefix + "embed_positions.weight", positions);
    config_["max_position_embeddings"] = shape_of(positions)[0];
    config_[stack + "_layers"] = layers;
    config_[stack + "_attention_heads"] = static_cast<int64_t>(setting(stack + "/num_heads"));
    config_[stack + "_ffn_dim"] = shape_of(stack + "/layer_0/ffn/linear_0/weight")[0];
    if (cross) return;
    config_["activation_function"] = activation_name(common_setting("activation", 0));
    if (common_setting("pre_norm", 1) != 0) {
      config_["model_type"] = "heed_transformer";
      config_["architectures"] = {"HeedTransformer"};
      config_["normalize_before"] = true;
      take_norm("model.encoder.layer_norm", "encoder/layer_norm");
      take_norm("model.decoder.layer_norm", "decoder/layer_norm");
    }
  }

  nlohmann::ordered_json config_;
};

}  // namespace

bool is_ctranslate2_directory(const std::string& directory) {
  const std::string config = directory + "/config.json";
  return is_present(directory + kFile) && is_present(config) && !JsonObject::read(config).has("model_type");
}

Ctranslate2Model open_ctranslate2(const std::string& directory) {
  Ctranslate2File file = Ctranslate2File::open(directory + kFile);
  if (file.specification() == "TransformerDecoderSpec") {
    Ctranslate2Decoder decoder = map_ctranslate2_decoder(directory, file);
    return {std::move(decoder.config), mapped_weights(std::move(file), std::move(decoder.rows))};
  }
  if (file.specification() != "TransformerSpec") {
    fail(ErrorKind::kFormat,
         "'{}' is a model of CTranslate2 that Heed does not support: its kind is '{}', supported are "
         "TransformerSpec and TransformerDecoderSpec",
         directory, shown(file.specification()));
  }
  Mapper mapper(directory, file);
  const std::string config = mapper.map().dump(2);
  const std::vector<MappedRows> rows = mapper.rows();
  return {config, mapped_weights(std::move(file), rows)};
}

}  // namespace heed::models
