// Weights that are stored several times or can be computed: equal copies are read, others are refused by
// name.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/text/json_file.h"
#include "io/safetensors/safetensors.h"
#include "models/config/decoder_only_config.h"
#include "models/config/encoder_only_config.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/encoder_heads.h"
#include "models/stacks/transformer.h"
#include "nn/positions/sinusoids.h"
#include "test_folder.h"

namespace heed::models {
namespace {

/// A model's directory, whose weights can be given tensors besides.
class StoredCopies : public testing::Test {
 protected:
  void write(const Model& model) {
    nn::ParameterArray values(model.table(), DType::kFloat32);
    nn::initialize(model.table(), values, RandomKey::from_seed(1));
    write_json(folder_.path("config.json"), model.config_json());
    write_weights(folder_.path(), model.table(), values, DType::kFloat32);
    tensors_.clear();
    const auto file = SafetensorsReader::open(folder_.path("model.safetensors"));
    for (const TensorInfo& info : file.infos()) tensors_.emplace_back(info.name, file.read(info.name));
  }
  Tensor copy_of(const std::string& name) const {
    for (const auto& [each, tensor] : tensors_) {
      if (each == name) return tensor.clone();
    }
    throw std::logic_error("there is no tensor " + name);
  }
  void open_with(const std::string& name, const Tensor& tensor) const {
    auto tensors = tensors_;
    tensors.emplace_back(name, tensor);
    write_safetensors(folder_.path("model.safetensors"), tensors, {{"format", "pt"}});
    load_model(folder_.path());
  }
  /// `tensor` under `name` is read, and refused with one element changed.
  void expect_checked(const std::string& name, const Tensor& tensor, const std::string& advice = "") const {
    EXPECT_NO_THROW(open_with(name, tensor)) << name;
    Tensor other = tensor.to(DType::kFloat32).clone();
    other.data<float>()[other.size() / 2] += 0.5F;
    expect_error(ErrorKind::kFormat, "'" + name + "'", [&] { open_with(name, other); });
    expect_error(ErrorKind::kFormat, advice, [&] { open_with(name, other); });
  }

  TestFolder folder_;
  std::vector<std::pair<std::string, Tensor>> tensors_;
};

TransformerConfig marian_config() {
  TransformerConfig c;
  c.vocabulary = 21;
  c.width = 16;
  c.encoder_layers = c.decoder_layers = 1;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_inner_width = c.decoder_inner_width = 24;
  c.max_length = 12;
  c.padding_id = c.start_id = 20;
  return c;
}

TEST_F(StoredCopies, OfMarian) {
  write(Transformer(marian_config()));
  const Tensor shared = copy_of("model.shared.weight");
  expect_checked("lm_head.weight", shared, "must say \"tie_word_embeddings\": false");
  for (const char* name : {"model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"}) {
    expect_checked(name, shared, "must say \"share_encoder_decoder_embeddings\": false");
  }
  const Tensor positions = nn::sinusoid_table(12, 16, SinusoidLayout::kHalves);
  expect_checked("model.encoder.embed_positions.weight", positions);
  EXPECT_NO_THROW(open_with("model.decoder.embed_positions.weight", positions.to(DType::kBFloat16)));
  expect_error(ErrorKind::kFormat, "embed_positions", [&] {
    open_with("model.decoder.embed_positions.weight",
              nn::sinusoid_table(12, 16, SinusoidLayout::kInterleaved));
  });
  expect_error(ErrorKind::kFormat, "rows of 16", [&] {
    open_with("model.decoder.embed_positions.weight", nn::sinusoid_table(12, 8, SinusoidLayout::kHalves));
  });
}

DecoderOnlyConfig small_config(const DecoderOnlyFamily& family) {
  DecoderOnlyConfig c;
  c.family = &family;
  c.vocabulary = 11;
  c.width = 16;
  c.layers = 2;
  c.heads = 2;
  c.inner_width = 16;
  c.max_length = 4;
  return c;
}

TEST_F(StoredCopies, OfGpt2) {
  write(DecoderOnly(small_config(gpt2_family())));
  expect_checked("lm_head.weight", copy_of("transformer.wte.weight"), "\"tie_word_embeddings\": false");
  expect_checked("wpe.weight", copy_of("transformer.wpe.weight"),
                 "of the type 'gpt2' they are always the same");
  const Tensor mask =
      Tensor::from(std::vector<float>{1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}, {1, 1, 4, 4});
  expect_checked("transformer.h.1.attn.bias", mask);
  EXPECT_NO_THROW(open_with("h.0.attn.bias", mask.to(DType::kUInt8)));
}

TEST_F(StoredCopies, OfLlama) {
  DecoderOnlyConfig c = small_config(llama_family());
  c.attention_bias = c.feed_forward_bias = false;
  write(DecoderOnly(c));
  expect_checked("lm_head.weight", copy_of("model.embed_tokens.weight"), "\"tie_word_embeddings\": false");
  expect_checked("model.layers.1.self_attn.rotary_emb.inv_freq",
                 Tensor::from(std::vector<float>{1, 0.1F, 0.01F, 0.001F}, {4}));
}

TEST_F(StoredCopies, OfBert) {
  EncoderOnlyConfig c = bert_config(EncoderHead::kVocabulary);
  c.vocabulary = 21;
  c.width = 16;
  c.layers = 1;
  c.heads = 2;
  c.inner_width = 24;
  c.max_length = 12;
  write(EncoderMaskedLm(c));
  expect_checked("cls.predictions.decoder.bias", copy_of("cls.predictions.bias"));
  expect_checked("cls.predictions.decoder.weight", copy_of("bert.embeddings.word_embeddings.weight"));
  expect_checked("bert.embeddings.position_ids", Tensor::from(std::vector<int64_t>{0, 1, 2, 3, 4}, {1, 5}));
}

// Weights are checked before memory of the model's size is allocated.
TEST_F(StoredCopies, WeightsAreCheckedBeforeAllocation) {
  write(Transformer(marian_config()));
  nlohmann::json config = nlohmann::json::parse(content_of(folder_.path("config.json")));
  config["vocab_size"] = config["decoder_vocab_size"] = 1 << 26;
  config["d_model"] = 1 << 15;  // 8 TiB for the embeddings alone
  config["max_position_embeddings"] = 1 << 20;
  write_json(folder_.path("config.json"), config);
  expect_error(ErrorKind::kFormat, "'model.shared.weight' has the shape (67108864, 32768) by config.json",
               [&] { load_model(folder_.path()); });
}

}  // namespace
}  // namespace heed::models
