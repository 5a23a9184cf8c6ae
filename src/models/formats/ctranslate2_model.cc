#include "models/formats/ctranslate2_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/printable.h"
#include "base/text/string_list.h"
#include "io/ctranslate2_file.h"
#include "models/architecture.h"
#include "models/formats/ctranslate2_decoder.h"
#include "models/formats/ctranslate2_mapping.h"
#include "nn/positions/sinusoids.h"

namespace heed::models {
namespace {

constexpr char kPad[] = "<pad>";

/// How a stack knows positions.
enum class Positions { kPaper, kMarian, kFairseq, kOtherTable, kBuckets };

/// Finds what an encoder-decoder model needs in a file, and whether there is anything else.
class Mapper : public Ctranslate2Mapper {
 public:
  using Ctranslate2Mapper::Ctranslate2Mapper;

  nlohmann::ordered_json map() {
    encoder_layers_ = layers_of("encoder");
    decoder_layers_ = layers_of("decoder");
    read_vocabularies();
    const Kind& kind = find_kind();
    config_["model_type"] = kind.model_type;
    config_["architectures"] = {kind.model_class};
    map_special_tokens(kind);
    (this->*kind.describe)();
    const JsonObject config =
        JsonObject::parse(config_.dump(), fmt::format("config of '{}'", files_.directory()));
    const std::unique_ptr<Model> model = architecture_of(config).read(config);
    const auto& transformer = dynamic_cast<const Transformer&>(*model).config();
    std::vector<Ctranslate2Row> rows = ctranslate2_rows(transformer);
    for (Ctranslate2Row& row : rows) {
      if (row.variable == kCtranslate2SourceEmbedding) row.variable = source_embedding_;
    }
    take(rows, model->table());
    use_others(transformer);
    require_all_used();
    return std::move(config_);
  }

 private:
  /// A family, and how its variables tell it from the others.
  struct Kind {
    const char *model_type, *model_class;
    Positions positions;
    bool embedding_norm, pre_norm, own_padding;  ///< own: the vocabulary has to have a padding token
    void (Mapper::*describe)();                  ///< adds the sizes and options to config_
  };

  const Kind& find_kind() {
    static const Kind kinds[] = {
        {"marian", "MarianMTModel", Positions::kPaper, false, false, false, &Mapper::describe_marian},
        {"heed_transformer", "HeedTransformer", Positions::kPaper, false, true, false,
         &Mapper::describe_pre_norm_marian},
        {"heed_transformer", "HeedTransformer", Positions::kMarian, false, false, false,
         &Mapper::describe_marian_itself},
        {"m2m_100", "M2M100ForConditionalGeneration", Positions::kFairseq, false, true, true,
         &Mapper::describe_bart_like},
        {"bart", "BartForConditionalGeneration", Positions::kOtherTable, true, false, true,
         &Mapper::describe_bart_like},
        {"mbart", "MBartForConditionalGeneration", Positions::kOtherTable, true, true, true,
         &Mapper::describe_bart_like},
        {"t5", "T5ForConditionalGeneration", Positions::kBuckets, false, true, true, &Mapper::describe_t5}};
    const Positions encoder = positions_of("encoder"), decoder = positions_of("decoder");
    const bool norm = file_.has("encoder/layernorm_embedding/gamma"),
               pre_norm = common_setting("pre_norm", 1) != 0;
    for (const Kind& kind : kinds) {
      if (encoder == kind.positions && decoder == kind.positions && norm == kind.embedding_norm &&
          pre_norm == kind.pre_norm) {
        return kind;
      }
    }
    refuse(
        fmt::format("its positions and norms ({}, {} norm of embeddings) are not those of Marian, M2M-100, "
                    "NLLB, BART, mBART or T5; use the model that it was converted from",
                    pre_norm ? "pre-norm" : "post-norm", norm ? "a" : "no"));
  }

  Positions positions_of(const std::string& stack) const {
    if (file_.has(stack + "/layer_0/self_attention/relative_attention_bias")) return Positions::kBuckets;
    const Shape& shape = shape_of(stack + kCtranslate2Positions);
    if (shape.rank() != 2 || shape.size() == 0)
      refuse(fmt::format("'{}{}' is not a matrix", stack, kCtranslate2Positions));
    const int64_t rows = std::min<int64_t>(shape[0], 128), width = shape[1];
    const Tensor stored = file_.read_rows(stack + kCtranslate2Positions, 0, rows).to(DType::kFloat32);
    const auto equals = [&](const Tensor& expected) {
      constexpr float kTolerance = 1.0F / 256;  // bfloat16 below 1
      return std::equal(stored.data<float>(), stored.data<float>() + stored.size(), expected.data<float>(),
                        [](float left, float right) { return std::abs(left - right) <= kTolerance; });
    };
    if (equals(nn::sinusoid_table(rows, width, SinusoidLayout::kHalves))) return Positions::kPaper;
    if (width >= 4 && equals(nn::fairseq_sinusoid_table(rows, width))) return Positions::kMarian;
    // fairseq counts from the padding token's id.
    const int64_t first = std::ranges::find(target_, kPad) - target_.begin() + 1;
    if (width >= 4 && equals(nn::fairseq_sinusoid_table(rows, width, DType::kFloat32, first)))
      return Positions::kFairseq;
    return Positions::kOtherTable;
  }

  /// The encoder's and the decoder's value, which have to be equal.
  double common_setting(const std::string& name, std::optional<double> fallback = {}) {
    const double value = setting("encoder/" + name, fallback);
    if (setting("decoder/" + name, fallback) != value)
      refuse(fmt::format("'{}' differs between encoder and decoder", name));
    return value;
  }
  /// The value of a setting of all layers of both stacks.
  double common_layer_setting(const std::string& name, std::optional<double> fallback = {}) {
    const double value = layer_setting("encoder", encoder_layers_, name, fallback);
    if (layer_setting("decoder", decoder_layers_, name, fallback) != value)
      refuse(fmt::format("'{}' differs between encoder and decoder", name));
    return value;
  }

  /// Which embeddings and output layers are the same, and the pieces of their rows.
  void read_vocabularies() {
    source_embedding_ =
        file_.has("encoder/embeddings/weight") ? "encoder/embeddings/weight" : kCtranslate2SourceEmbedding;
    const auto rows_of = [&](const std::string& variable) {
      if (shape_of(variable).rank() != 2) refuse(fmt::format("'{}' is not a matrix", variable));
      return shape_of(variable)[0];
    };
    shared_ = file_.variable(source_embedding_) == file_.variable(kCtranslate2Embedding);
    tied_ = file_.variable(kCtranslate2Output) == file_.variable(kCtranslate2Embedding);
    const bool joint = has_string_list(files_, "shared_vocabulary");
    source_ = vocabulary_of(joint ? "shared" : "source", rows_of(source_embedding_));
    target_ = vocabulary_of(joint ? "shared" : "target", rows_of(kCtranslate2Embedding));
    rows_of(kCtranslate2Output);
  }

  /// Sizes of the vocabularies, and the ids of special tokens.
  void map_special_tokens(const Kind& kind) {
    const JsonObject& json = original_;
    if (json.boolean("add_source_bos", false)) json.reject("add_source_bos", "false");
    const double usual = kind.positions == Positions::kBuckets ? 1e-6 : 1e-5;
    const bool reads_epsilon = kind.positions == Positions::kMarian;
    if (!reads_epsilon && std::abs(json.number("layer_norm_epsilon", {}, usual) - usual) > usual * 1e-4)
      json.reject("layer_norm_epsilon", fmt::format("{}", usual));
    const auto end = static_cast<int32_t>(id_of(target_, json.string("eos_token", "</s>")));
    const bool from_zero = setting("decoder/start_from_zero_embedding", 0) != 0;
    const bool padded = std::ranges::count(target_, kPad) > 0;
    if (from_zero && padded)
      refuse("it starts from a zero embedding, although its vocabulary has a padding token");
    if (kind.own_padding && (!padded || !shared_)) {
      refuse(fmt::format("a {} model has one embedding for source and target, with the token {}",
                         kind.model_type, kPad));
    }
    if (kind.own_padding && !json.has("decoder_start_token")) {
      json.reject("decoder_start_token",
                  "the token that the decoder starts from, in mBART that of the target language, such as "
                  "\"de_DE\"");
    }
    if (!padded) target_.emplace_back(kPad);
    const int64_t pad = id_of(target_, kPad);
    source_size_ = static_cast<int64_t>(source_.size()) + (std::ranges::count(source_, kPad) > 0 ? 0 : 1);
    target_size_ = static_cast<int64_t>(target_.size());
    const std::string begin = json.string("bos_token", "");
    config_["pad_token_id"] = pad;
    config_["eos_token_id"] = end;
    config_["bos_token_id"] =
        kind.own_padding && std::ranges::count(target_, begin) > 0 ? id_of(target_, begin) : end;
    config_["decoder_start_token_id"] =
        from_zero ? pad : id_of(target_, json.string("decoder_start_token", "</s>"));
    config_["num_beams"] = 4;  // a usual value; CTranslate2 stores none
  }

  /// Whether embeddings are multiplied by sqrt(D).
  bool scales_embeddings() {
    const int64_t width = shape_of(kCtranslate2Embedding)[1];
    const double scale = common_setting("scale_embeddings", 1);
    // A factor, in older files a flag.
    const bool flag =
        file_.has("decoder/scale_embeddings") && file_.info("decoder/scale_embeddings").type == "I8";
    const bool scaled = flag ? scale != 0 : std::abs(scale - std::sqrt(static_cast<double>(width))) < 1e-3;
    if (!flag && !scaled && scale != 1) refuse(fmt::format("embeddings are multiplied by {}", scale));
    return scaled;
  }

  /// What Marian and the BART-like families call by the same names.
  void describe_bart_like() {
    config_["vocab_size"] = source_size_;
    config_["d_model"] = shape_of(kCtranslate2Embedding)[1];
    config_["scale_embedding"] = scales_embeddings();
    config_["tie_word_embeddings"] = tied_;
    config_["activation_function"] = activation_name(common_setting("activation", 0));
    for (const char* stack : {"encoder", "decoder"}) {
      const std::string name = stack;
      config_["max_position_embeddings"] = shape_of(name + kCtranslate2Positions)[0];
      config_[name + "_layers"] = name == "encoder" ? encoder_layers_ : decoder_layers_;
      config_[name + "_attention_heads"] = static_cast<int64_t>(setting(name + "/num_heads"));
      config_[name + "_ffn_dim"] = shape_of(name + "/layer_0/ffn/linear_0/weight")[0];
      used_.insert(name + kCtranslate2Positions);
    }
    config_["dropout"] = 0.1;
  }

  void describe_marian_like() {
    describe_bart_like();
    config_["decoder_vocab_size"] = target_size_;
    config_["share_encoder_decoder_embeddings"] = shared_;
    config_["bos_token_id"] = config_["forced_eos_token_id"] = config_["eos_token_id"];
    config_["bad_words_ids"] = {{config_["pad_token_id"]}};
    config_["renormalize_logits"] = true;
  }

  /// With the positions of transformers.
  void describe_marian() {
    describe_marian_like();
    for (const char* stack : {"encoder", "decoder"}) {
      // Compared with the computed positions when weights are read, and used as they are stored.
      const std::string positions = std::string(stack) + kCtranslate2Positions;
      rows_.push_back({.name = fmt::format("model.{}.embed_positions.weight", stack),
                       .variable = positions,
                       .rows = shape_of(positions)[0]});
    }
  }

  void describe_pre_norm_marian() {
    describe_marian();
    config_["normalize_before"] = true;
  }

  /// As Marian computes.
  void describe_marian_itself() {
    describe_marian_like();
    config_["position_frequencies"] = "by_halves";
    config_["layer_norm_epsilon"] = original_.number("layer_norm_epsilon", {0, 1}, 1e-5);
  }

  void describe_t5() {
    const auto heads = static_cast<int64_t>(common_setting("num_heads"));
    const int64_t rows = shape_of("encoder/layer_0/self_attention/linear_0/weight")[0];
    if (heads < 1 || rows % (3 * heads) != 0) refuse("its heads do not fit its weights");
    const Shape& buckets = shape_of("encoder/layer_0/self_attention/relative_attention_bias");
    const bool gated = file_.has("encoder/layer_0/ffn/linear_0_noact/weight");
    const std::string activation = activation_name(common_setting("activation", 0));
    if (gated && activation == "gelu") refuse("its gates have the exact GELU; those of T5 are approximate");
    if (scales_embeddings()) refuse("it scales its embeddings");
    if (common_layer_setting("self_attention/queries_scale", 0) != 1 ||
        layer_setting("decoder", decoder_layers_, "attention/queries_scale", 0) != 1) {
      refuse("its attention scores are scaled");
    }
    const int64_t width = shape_of(kCtranslate2Embedding)[1];
    const double scale = setting("decoder/scale_outputs", 1),
                 usual = std::pow(static_cast<double>(width), -0.5);
    const bool scaled = std::abs(scale - usual) < 1e-6;
    if (!scaled && scale != 1) refuse(fmt::format("its outputs are multiplied by {}", scale));
    config_["vocab_size"] = source_size_;
    config_["d_model"] = width;
    config_["d_kv"] = rows / (3 * heads);
    config_["d_ff"] = shape_of("encoder/layer_0/ffn/linear_0/weight")[0];
    config_["num_layers"] = encoder_layers_;
    config_["num_decoder_layers"] = decoder_layers_;
    config_["num_heads"] = heads;
    config_["feed_forward_proj"] = (gated ? "gated-" : "") + activation;
    config_["relative_attention_num_buckets"] = buckets.rank() == 2 ? buckets[0] : 0;
    config_["relative_attention_max_distance"] =
        static_cast<int64_t>(common_layer_setting("self_attention/relative_attention_max_distance"));
    config_["tie_word_embeddings"] = tied_;
    config_["scale_decoder_outputs"] = scaled;
  }

  /// Other names of variables that were taken.
  void use_others(const TransformerConfig& c) {
    used_.insert(kCtranslate2Output);
    if (c.share_embeddings) used_.insert(source_embedding_);
    if (c.positions.kind != nn::PositionKind::kBuckets) return;
    for (const auto& [stack, layers] :
         {std::pair{"encoder", encoder_layers_}, {"decoder", decoder_layers_}}) {
      const auto bias = [&, name = stack](int64_t n) {
        return fmt::format("{}/layer_{}/self_attention/relative_attention_bias", name, n);
      };
      for (int64_t n = 1; n < layers; ++n) {
        shape_of(bias(n));
        if (file_.variable(bias(n)) != file_.variable(bias(0)))
          refuse(fmt::format("'{}' differs between layers", bias(n)));
        used_.insert(bias(n));
      }
    }
  }

  int64_t encoder_layers_ = 0, decoder_layers_ = 0;
  int64_t source_size_ = 0, target_size_ = 0;  // with a padding token
  bool shared_ = false, tied_ = false;
  std::string source_embedding_;
  std::vector<std::string> source_, target_;  // the pieces
  nlohmann::ordered_json config_ = nlohmann::ordered_json::object();
};

/// What to do with a kind of model that has no place here.
struct OtherKind {
  const char *specification, *what, *advice;
};
constexpr OtherKind kOtherKinds[] = {
    {"TransformerEncoderSpec", "an encoder such as BERT or RoBERTa",
     "use the model that it was converted from: Heed opens its Hugging Face directory"},
    {"WhisperSpec", "a model of speech (Whisper)", "Heed has no models of speech"},
    {"Wav2Vec2Spec", "a model of speech (Wav2Vec2)", "Heed has no models of speech"},
    {"Wav2Vec2BertSpec", "a model of speech (Wav2Vec2-BERT)", "Heed has no models of speech"}};

[[noreturn]] void refuse_specification(const std::string& directory, const std::string& name) {
  for (const OtherKind& kind : kOtherKinds) {
    if (name != kind.specification) continue;
    fail(ErrorKind::kFormat, "'{}' is a model of CTranslate2 that Heed does not support: {} ({}); {}",
         directory, kind.what, name, kind.advice);
  }
  fail(ErrorKind::kFormat,
       "'{}' is a model of CTranslate2 that Heed does not support: its kind is '{}', supported are "
       "TransformerSpec and TransformerDecoderSpec; use the model that it was converted from",
       directory, shown(name));
}

}  // namespace

bool is_ctranslate2_directory(const ModelInventory& files, const JsonObject& config) {
  return files.has(model_file::kCtranslate2) && !config.has("model_type");
}

Ctranslate2Model open_ctranslate2(const ModelInventory& files, const JsonObject& config) {
  Ctranslate2File file = Ctranslate2File::open(files.path(model_file::kCtranslate2));
  if (file.specification() == "TransformerDecoderSpec") {
    Ctranslate2Decoder decoder = map_ctranslate2_decoder({files, config, file});
    return {std::move(decoder.config), mapped_weights(std::move(file), std::move(decoder.rows))};
  }
  if (file.specification() != "TransformerSpec")
    refuse_specification(files.directory(), file.specification());
  Mapper mapper({files, config, file});
  const std::string mapped = mapper.map().dump(2);
  const std::vector<MappedRows> rows = mapper.rows();
  return {mapped, mapped_weights(std::move(file), rows)};
}

}  // namespace heed::models
