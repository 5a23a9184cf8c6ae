#include "models/formats/marian_import.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text/flat_yaml.h"
#include "base/text/printable.h"
#include "io/npz_file.h"

namespace heed::models {
namespace {

constexpr char kModelOptions[] = "special:model.yml";

/// A parameter of Marian under another name and in another form; only zeros if `variable` is empty.
struct MappedParameter {
  std::string name, variable;
  bool transposed = false;
  int64_t zero_rows = 0;  ///< appended along the first axis
  Shape shape;
};

class MarianWeights final : public TensorReader {
 public:
  MarianWeights(NpzFile file, const std::vector<MappedParameter>& all)
      : TensorReader(file.path(), infos_of(file, all)), file_(std::move(file)), all_(all) {}

 protected:
  bool reads_parts(size_t index) const override { return !all_[index].transposed; }
  void read_elements(size_t index, int64_t begin, int64_t count, void* destination) const override {
    const MappedParameter& from = all_[index];
    const int64_t size = from.variable.empty() ? 0 : file_.info(from.variable).shape.size();
    const int64_t stored = std::clamp<int64_t>(size - begin, 0, count);
    const size_t element = size_of(infos()[index].dtype);
    auto* to = static_cast<char*>(destination);
    std::memset(to + static_cast<size_t>(stored) * element, 0, static_cast<size_t>(count - stored) * element);
    if (stored == 0) return;
    if (!from.transposed) return file_.read_part(from.variable, begin, stored, to);
    const Tensor matrix = file_.read(from.variable);
    const auto* values = static_cast<const char*>(matrix.bytes());
    const int64_t rows = from.shape[0] - from.zero_rows, columns = from.shape[1];
    for (int64_t i = 0; i < stored; ++i, to += element) {
      const int64_t row = (begin + i) / columns, column = (begin + i) % columns;
      std::memcpy(to, values + static_cast<size_t>(column * rows + row) * element, element);
    }
  }

 private:
  static std::vector<TensorInfo> infos_of(const NpzFile& file, const std::vector<MappedParameter>& all) {
    std::vector<TensorInfo> infos;
    uint64_t at = 0;
    for (const MappedParameter& each : all) {
      TensorInfo info{.name = {}, .type = "F32", .shape = {}};
      if (!each.variable.empty()) info = file.info(each.variable);
      info.name = each.name;
      info.shape = each.shape;
      info.begin = at;
      info.end = at += static_cast<uint64_t>(each.shape.size()) * size_of(info.dtype);
      infos.push_back(std::move(info));
    }
    return infos;
  }

  NpzFile file_;
  std::vector<MappedParameter> all_;
};

/// Marian's options, as they are stored in the model.
class MarianOptions {
 public:
  explicit MarianOptions(const NpzFile& file) : path_(file.path()) {
    if (!file.has(kModelOptions)) {
      fail(ErrorKind::kFormat, "'{}' is not a model of Marian: it has no {}", path_, kModelOptions);
    }
    const Tensor bytes = file.read(kModelOptions);
    if (size_of(bytes.dtype()) != 1 || bytes.size() > int64_t{1} << 24) refuse("its options are malformed");
    std::string_view text(static_cast<const char*>(bytes.bytes()), static_cast<size_t>(bytes.size()));
    text = text.substr(0, text.find('\0'));
    values_ = parse_flat_yaml(text, fmt::format("{} of '{}'", kModelOptions, path_));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kFormat, "'{}' is a model of Marian that Heed does not support: {}", path_, why);
  }
  std::string text(const std::string& key, const std::string& fallback) const {
    const auto found = values_.find(key);
    if (found == values_.end() || found->second.empty()) return fallback;
    if (found->second.size() > 1) refuse(fmt::format("the option '{}' has several values", key));
    return found->second.front() == "~" ? "" : found->second.front();
  }
  int64_t integer(const std::string& key, int64_t fallback = -1) const {
    const std::string value = text(key, "");
    if (value.empty() && fallback >= 0) return fallback;
    int64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0) {
      refuse(fmt::format("the option '{}' is '{}', not a number", key, shown(value)));
    }
    return number;
  }
  /// Throws unless an option is missing or has a value that changes nothing.
  void require(const std::string& key, const std::vector<std::string>& neutral) const {
    const auto found = values_.find(key);
    if (found == values_.end() || found->second.empty()) return;
    const std::string value = fmt::format("{}", fmt::join(found->second, ", "));
    if (std::ranges::count(neutral, value) > 0) return;
    refuse(fmt::format("the option '{}' is '{}'; supported is '{}'", key, shown(value),
                       fmt::join(neutral, "' or '")));
  }
  /// Throws for an option that `is_known` does not know.
  void require_known(const std::function<bool(const std::string& key)>& is_known) const {
    for (const auto& [key, values] : values_) {
      if (!is_known(key)) refuse(fmt::format("the option '{}' is unknown", shown(key)));
    }
  }

 private:
  std::string path_;
  FlatYaml values_;
};

/// Values with which an option changes nothing.
struct NeutralOption {
  const char* key;
  std::vector<std::string> values;
};

/// Options of the network that have to be neutral. Those that it reads are not among them.
const std::vector<NeutralOption>& neutral_options() {
  static const std::vector<std::string> off{"false", "0", ""};
  static const std::vector<NeutralOption> table{{"type", {"transformer"}},
                                                {"factors-combine", {"sum", ""}},
                                                {"factors-dim-emb", off},
                                                {"lemma-dependency", off},
                                                {"lemma-dim-emb", off},
                                                {"output-omit-bias", off},
                                                {"right-left", off},
                                                {"transformer-attention-mask", {"default", ""}},
                                                {"transformer-decoder-autoreg", {"self-attention"}},
                                                {"transformer-decoder-ffn-depth", {"0", "2"}},
                                                {"transformer-disable-position-embeddings", off},
                                                {"transformer-ffn-depth", {"2"}},
                                                {"transformer-no-affine", off},
                                                {"transformer-no-bias", off},
                                                {"transformer-no-projection", off},
                                                {"transformer-pool", off},
                                                {"transformer-postprocess-emb", {"d", ""}},
                                                {"transformer-preprocess", {"", "n"}},
                                                {"transformer-tied-layers", off},
                                                {"transformer-train-position-embeddings", off},
                                                {"transformer-train-positions", off},
                                                {"ulr", off}};
  return table;
}

/// Options that are read, follow from the parameters, or have no meaning for a Transformer with
/// self-attention (marian-dev, src/models/transformer.h).
constexpr const char* kOtherOptions[] = {"bert-train-type-embeddings",
                                         "bert-type-vocab-size",
                                         "dec-cell",
                                         "dec-cell-base-depth",
                                         "dec-cell-high-depth",
                                         "dec-depth",
                                         "dim-emb",
                                         "dim-rnn",
                                         "dim-vocabs",
                                         "enc-cell",
                                         "enc-cell-depth",
                                         "enc-depth",
                                         "enc-type",
                                         "input-types",
                                         "layer-normalization",
                                         "original-type",
                                         "separator-symbol",
                                         "skip",
                                         "special-vocab",
                                         "tied-embeddings",
                                         "tied-embeddings-all",
                                         "tied-embeddings-src",
                                         "transformer-aan-activation",
                                         "transformer-aan-depth",
                                         "transformer-aan-nogate",
                                         "transformer-alibi-shift",
                                         "transformer-alibi-trainable",
                                         "transformer-decoder-dim-ffn",
                                         "transformer-dim-aan",
                                         "transformer-dim-ffn",
                                         "transformer-ffn-activation",
                                         "transformer-guided-alignment-layer",
                                         "transformer-heads",
                                         "transformer-postprocess",
                                         "transformer-postprocess-top",
                                         "transformer-rnn-projection",
                                         "ulr-dim-emb",
                                         "ulr-trainable-transformation",
                                         "version"};

/// Finds what a model needs that computes as Marian, and whether there is anything else.
class MarianMapper {
 public:
  MarianMapper(const NpzFile& file, const MarianVocabularies& vocabularies)
      : file_(file), options_(file), vocabularies_(vocabularies) {}

  nlohmann::ordered_json map() {
    require_options();
    config_["model_type"] = "heed_transformer";
    config_["architectures"] = {"HeedTransformer"};
    config_["position_frequencies"] = "by_halves";
    config_["layer_norm_epsilon"] = 1e-6;
    map_embeddings();
    map_stack("encoder", options_.integer("enc-depth"), false);
    map_stack("decoder", options_.integer("dec-depth"), true);
    if (pre_norm_) {
      config_["normalize_before"] = true;
      map_norm("model.encoder.layer_norm", "encoder_top");
      map_norm("model.decoder.layer_norm", "decoder_top");
    }
    require_all_used();
    return std::move(config_);
  }
  const std::vector<MappedParameter>& parameters() const { return parameters_; }

 private:
  void require_options() {
    for (const NeutralOption& option : neutral_options()) options_.require(option.key, option.values);
    options_.require_known([](const std::string& key) {
      return std::ranges::count(neutral_options(), key, &NeutralOption::key) > 0 ||
             std::ranges::count(kOtherOptions, key) > 0;
    });
    pre_norm_ = options_.text("transformer-preprocess", "") == "n";
    options_.require("transformer-postprocess", {pre_norm_ ? "da" : "dan"});
    options_.require("transformer-postprocess-top", {pre_norm_ ? "n" : ""});
    // Marian's gelu is x sigmoid(1.702 x).
    options_.require("transformer-ffn-activation", {"relu", "swish"});
    config_["activation_function"] = options_.text("transformer-ffn-activation", "swish");
  }

  const Shape& shape_of(const std::string& variable) const {
    if (!file_.has(variable)) options_.refuse(fmt::format("'{}' is missing", variable));
    return file_.info(variable).shape;
  }
  /// A vector, which Marian stores as (1, size).
  void take_vector(const std::string& name, const std::string& variable, int64_t zeros = 0) {
    const int64_t size = shape_of(variable).size();
    if (size != shape_of(variable)[-1]) {
      options_.refuse(
          fmt::format("'{}' has the shape {}, not one row", variable, shape_of(variable).to_string()));
    }
    add({name, variable, false, zeros, {size + zeros}});
  }
  void take_matrix(const std::string& name, const std::string& variable, bool transposed, int64_t zeros = 0) {
    const Shape& shape = shape_of(variable);
    if (shape.rank() != 2) options_.refuse(fmt::format("'{}' is not a matrix", variable));
    const int64_t rows = shape[transposed ? 1 : 0], columns = shape[transposed ? 0 : 1];
    add({name, variable, transposed, zeros, {rows + zeros, columns}});
  }
  void add(MappedParameter parameter) {
    used_.insert(parameter.variable);
    parameters_.push_back(std::move(parameter));
  }
  void map_linear(const std::string& name, const std::string& scope, const std::string& suffix) {
    take_matrix(name + ".weight", scope + "_W" + suffix, true);
    take_vector(name + ".bias", scope + "_b" + suffix);
  }
  void map_norm(const std::string& name, const std::string& scope) {
    const std::string end = file_.has(scope + "_ln_scale_pre") ? "_pre" : "";
    take_vector(name + ".weight", scope + "_ln_scale" + end);
    take_vector(name + ".bias", scope + "_ln_bias" + end);
  }

  /// Embeddings, output layer, and the ids of special tokens.
  void map_embeddings() {
    const bool shared = file_.has("Wemb");
    const std::string source = shared ? "Wemb" : "encoder_Wemb", target = shared ? "Wemb" : "decoder_Wemb";
    const auto require_rows = [&](const std::string& variable, int64_t pieces) {
      if (shape_of(variable).rank() == 2 && shape_of(variable)[0] == pieces) return;
      fail(ErrorKind::kFormat, "'{}': '{}' has the shape {}, but its vocabulary has {} pieces", file_.path(),
           variable, shape_of(variable).to_string(), pieces);
    };
    require_rows(source, vocabularies_.source_size);
    require_rows(target, vocabularies_.target_size);
    if (shared) {
      take_matrix("model.shared.weight", "Wemb", false, 1);
    } else {
      take_matrix("model.encoder.embed_tokens.weight", source, false, 1);
      take_matrix("model.decoder.embed_tokens.weight", target, false, 1);
    }
    const std::string output = "decoder_ff_logit_out_W";
    const bool as_stored = file_.has(output + "t"), tied = !as_stored && !file_.has(output);
    if (!tied) take_matrix("lm_head.weight", as_stored ? output + "t" : output, !as_stored, 1);
    take_vector("final_logits_bias", "decoder_ff_logit_out_b", 1);
    const int64_t width = shape_of(target)[1], pad = vocabularies_.target_size;
    if (options_.integer("dim-emb") != width) {
      options_.refuse(fmt::format("the option 'dim-emb' is {}, but '{}' has the shape {}",
                                  options_.integer("dim-emb"), target, shape_of(target).to_string()));
    }
    config_["vocab_size"] = vocabularies_.source_size + 1;
    config_["decoder_vocab_size"] = vocabularies_.target_size + 1;
    config_["d_model"] = width;
    config_["max_position_embeddings"] = 512;  // computed sinusoids; Marian has no limit
    config_["scale_embedding"] = true;
    config_["share_encoder_decoder_embeddings"] = shared;
    config_["tie_word_embeddings"] = tied;
    config_["pad_token_id"] = config_["decoder_start_token_id"] = pad;
    config_["bos_token_id"] = config_["eos_token_id"] = config_["forced_eos_token_id"] = vocabularies_.end_id;
    config_["bad_words_ids"] = {{pad}};
    config_["renormalize_logits"] = true;
    config_["dropout"] = 0.1;
  }

  void map_stack(const std::string& stack, int64_t layers, bool cross) {
    if (layers < 1 || layers > 256) options_.refuse(fmt::format("the {} has {} layers", stack, layers));
    for (int64_t n = 0; n < layers; ++n) {
      const std::string from = fmt::format("{}_l{}_", stack, n + 1);
      const std::string to = fmt::format("model.{}.layers.{}.", stack, n);
      const auto map_attention = [&](const std::string& name, const std::string& scope) {
        for (const auto& [projection, suffix] :
             {std::pair{"q_proj", "q"}, {"k_proj", "k"}, {"v_proj", "v"}, {"out_proj", "o"}}) {
          map_linear(to + name + "." + projection, from + scope, suffix);
        }
        map_norm(to + name + "_layer_norm", from + scope + "_Wo");
      };
      map_attention("self_attn", "self");
      if (cross) map_attention("encoder_attn", "context");
      map_linear(to + "fc1", from + "ffn", "1");
      map_linear(to + "fc2", from + "ffn", "2");
      map_norm(to + "final_layer_norm", from + "ffn_ffn");
    }
    config_[stack + "_layers"] = layers;
    config_[stack + "_attention_heads"] = options_.integer("transformer-heads");
    config_[stack + "_ffn_dim"] = shape_of(stack + "_l1_ffn_W1")[1];
  }

  void require_all_used() const {
    for (const TensorInfo& info : file_.infos()) {
      if (used_.count(info.name) == 0 && !info.name.starts_with("special:")) {
        options_.refuse(fmt::format("'{}' is not part of its Transformer", shown(info.name)));
      }
    }
  }

  const NpzFile& file_;
  MarianOptions options_;
  MarianVocabularies vocabularies_;
  bool pre_norm_ = false;
  nlohmann::ordered_json config_ = nlohmann::ordered_json::object();
  std::vector<MappedParameter> parameters_;
  std::set<std::string> used_;
};

}  // namespace

MarianImport open_marian(const std::string& path, const MarianVocabularies& vocabularies) {
  NpzFile file = NpzFile::open(path);
  MarianMapper mapper(file, vocabularies);
  const std::string config = mapper.map().dump(2);
  const std::vector<MappedParameter> parameters = mapper.parameters();
  return {config, std::make_unique<MarianWeights>(std::move(file), parameters)};
}

}  // namespace heed::models
