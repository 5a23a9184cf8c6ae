// Language models as CTranslate2 stores them: queries, keys and values as one matrix, GPT-2's matrices not
// transposed.
#include "models/formats/ctranslate2_decoder.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "compare.h"
#include "models/architecture.h"
#include "models/directory/loaded_model.h"
#include "models/test_models.h"
#include "test_folder.h"

namespace heed::models {
namespace {

class Ctranslate2DecoderTest : public testing::Test {
 protected:
  /// Writes a model in Hugging Face's layout, and loads it.
  void make(const std::string& name, bool tied) {
    const Architecture& architecture = architecture_named(name);
    ModelSettings settings = architecture.preset(PresetSize::kTiny).settings;
    settings.vocabulary = 13;
    settings.width = 12;
    settings.layers = 2;
    settings.heads = 3;
    settings.inner_width = 20;
    settings.max_length = 16;
    settings.end_id = 2;
    const std::unique_ptr<Model> model = architecture.make(settings);
    nlohmann::ordered_json config = model->config_json();
    config["tie_word_embeddings"] = tied;
    if (name == "llama") config["num_key_value_heads"] = 1;
    const std::unique_ptr<Model> changed = architecture.read(JsonObject::parse(config.dump(), "config.json"));
    write_untrained(original_.path(), *changed, 9);
    loaded_ = load_model(original_.path());
    for (int row = 0; row < loaded_.model->table().size(); ++row)
      rows_[loaded_.model->table()[row].name] = row;
    config_ = config;
    content_.specification = "TransformerDecoderSpec";
    content_.revision = 8;
    number("decoder/pre_norm", 1);
    number("decoder/scale_embeddings", 0);
    number("decoder/alibi", 0);
    number("decoder/num_heads", 3);
  }
  Tensor value(const std::string& name) const {
    return loaded_.values.view(loaded_.model->table(), {rows_.at(name), 1}).clone();
  }
  void number(const std::string& variable, int8_t value) {
    content_.variables.emplace_back(variable, Tensor::from<int8_t>({value}, {}));
  }
  void add(const std::string& variable, const std::vector<std::string>& names) {
    std::vector<float> all;
    Shape shape = value(names[0]).shape();
    shape.set(0, 0);
    for (const std::string& name : names) {
      const std::vector<float> part = value(name).to_vector<float>();
      all.insert(all.end(), part.begin(), part.end());
      shape.set(0, shape[0] + value(name).dim(0));
    }
    content_.variables.emplace_back(variable, Tensor::from(all, shape));
  }
  void add_norm(const std::string& variable, const std::string& name, bool bias) {
    add(variable + "/gamma", {name + ".weight"});
    if (bias) add(variable + "/beta", {name + ".bias"});
  }
  void add_output(bool tied, const std::string& embedding) {
    if (tied) {
      content_.aliases.emplace_back("decoder/projection/weight", "decoder/embeddings/weight");
    } else {
      add("decoder/projection/weight", {"lm_head.weight"});
    }
    add("decoder/embeddings/weight", {embedding});
  }
  void write_llama(bool tied) {
    make("llama", tied);
    add_output(tied, "model.embed_tokens.weight");
    add_norm("decoder/layer_norm", "model.norm", false);
    number("decoder/activation", 2);
    for (int n = 0; n < 2; ++n) {
      const std::string from = "model.layers." + std::to_string(n) + ".",
                        to = "decoder/layer_" + std::to_string(n) + "/";
      add(to + "self_attention/linear_0/weight",
          {from + "self_attn.q_proj.weight", from + "self_attn.k_proj.weight",
           from + "self_attn.v_proj.weight"});
      add(to + "self_attention/linear_1/weight", {from + "self_attn.o_proj.weight"});
      add_norm(to + "self_attention/layer_norm", from + "input_layernorm", false);
      add_norm(to + "ffn/layer_norm", from + "post_attention_layernorm", false);
      add(to + "ffn/linear_0/weight", {from + "mlp.gate_proj.weight"});
      add(to + "ffn/linear_0_noact/weight", {from + "mlp.up_proj.weight"});
      add(to + "ffn/linear_1/weight", {from + "mlp.down_proj.weight"});
      number(to + "self_attention/num_heads_kv", 1);
      number(to + "self_attention/rotary_dim", 0);
      number(to + "self_attention/rotary_interleave", 0);
      content_.variables.emplace_back(to + "self_attention/rotary_base", Tensor::from<float>({10000}, {}));
    }
  }
  void write_gpt2() {
    make("gpt2", true);
    add_output(true, "transformer.wte.weight");
    add("decoder/position_encodings/encodings", {"transformer.wpe.weight"});
    add_norm("decoder/layer_norm", "transformer.ln_f", true);
    number("decoder/activation", 1);
    for (int n = 0; n < 2; ++n) {
      const std::string from = "transformer.h." + std::to_string(n) + ".",
                        to = "decoder/layer_" + std::to_string(n) + "/";
      for (const auto& [variable, name] :
           std::map<std::string, std::string>{{"self_attention/linear_0", "attn.c_attn"},
                                              {"self_attention/linear_1", "attn.c_proj"},
                                              {"ffn/linear_0", "mlp.c_fc"},
                                              {"ffn/linear_1", "mlp.c_proj"}}) {
        add(to + variable + "/weight", {from + name + ".weight"});
        add(to + variable + "/bias", {from + name + ".bias"});
      }
      add_norm(to + "self_attention/layer_norm", from + "ln_1", true);
      add_norm(to + "ffn/layer_norm", from + "ln_2", true);
    }
  }
  void finish() const {
    write_ctranslate2(folder_.path("model.bin"), content_);
    nlohmann::json pieces = nlohmann::json::array();
    for (int id = 0; id < 13; ++id) pieces.push_back(id == 2 ? "</s>" : "piece" + std::to_string(id));
    folder_.write("vocabulary.json", pieces.dump());
    folder_.write("config.json",
                  nlohmann::json{{"eos_token", "</s>"}, {"layer_norm_epsilon", epsilon()}}.dump());
  }
  nlohmann::json epsilon() const {
    return config_.contains("rms_norm_eps") ? nlohmann::json(config_["rms_norm_eps"]) : nlohmann::json();
  }
  static Tensor logits(const LoadedModel& loaded) {
    nn::Context context = loaded.context();
    Sequences text;
    text.append(std::vector<int32_t>{1, 5, 3, 12});
    return loaded.language_model().logits(context, text);
  }
  void expect_original() const {
    finish();
    const LoadedModel opened = load_model(folder_.path());
    EXPECT_EQ(opened.model_type, loaded_.model_type);
    EXPECT_EQ(opened.model->table().elements(), loaded_.model->table().elements());
    EXPECT_EQ(opened.language_model().start_id(), -1) << "its config.json names none";
    expect_equal(logits(opened), logits(loaded_), "logits");
  }

  TestFolder original_, folder_;
  LoadedModel loaded_;
  std::map<std::string, int> rows_;
  nlohmann::ordered_json config_;
  Ctranslate2Variables content_;
};

TEST_F(Ctranslate2DecoderTest, Llama) {
  write_llama(false);
  expect_original();
}

TEST_F(Ctranslate2DecoderTest, LlamaWithTiedOutput) {
  write_llama(true);
  expect_original();
}

TEST_F(Ctranslate2DecoderTest, Gpt2) {
  write_gpt2();
  expect_original();
}

TEST_F(Ctranslate2DecoderTest, OtherModelsAreRefused) {
  write_llama(true);
  const Ctranslate2Variables good = content_;
  const auto expect_refusal = [&](const std::string& variable, int8_t value, const std::string& message) {
    content_ = good;
    std::erase_if(content_.variables, [&](const auto& each) { return each.first == variable; });
    number(variable, value);
    finish();
    expect_error(ErrorKind::kFormat, message, [&] { load_model(folder_.path()); });
  };
  expect_refusal("decoder/pre_norm", 0, "normalizes after each layer");
  expect_refusal("decoder/scale_embeddings", 1, "scales its embeddings");
  expect_refusal("decoder/alibi", 1, "'decoder/alibi' is not part of a model that it knows");
  expect_refusal("decoder/activation", 4, "the activation 4 is unknown");
  expect_refusal("decoder/layer_0/self_attention/rotary_scaling_type", 2, "rotary positions are scaled");
  expect_refusal("decoder/layer_1/self_attention/rotary_interleave", 1, "'rotary_interleave' differs");
  expect_refusal("decoder/layer_1/self_attention/rotary_dim", 2, "'rotary_dim' differs");
  expect_refusal("decoder/layer_1/self_attention/num_heads_kv", 3, "'num_heads_kv' differs");
}

}  // namespace
}  // namespace heed::models
