// Quantized model directories: content, results, and errors.
#include "models/directory/model_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "compare.h"
#include "io/safetensors/safetensors.h"
#include "models/config/decoder_only_config.h"
#include "models/directory/fine_tuning.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/decoder_only.h"
#include "models/stacks/transformer.h"
#include "test_folder.h"

namespace heed::models {
namespace {

TransformerConfig tiny_transformer() {
  TransformerConfig c;
  c.vocabulary = 21;
  c.width = 16;
  c.encoder_layers = c.decoder_layers = 2;
  c.encoder_heads = c.decoder_heads = 2;
  c.encoder_inner_width = c.decoder_inner_width = 24;
  c.max_length = 12;
  c.padding_id = c.start_id = 20;
  return c;
}

/// Directories of the same model, in float32 and quantized.
class QuantizedDirectory : public testing::Test {
 protected:
  QuantizedDirectory() { write(Transformer(tiny_transformer()), 3); }
  void write(const Model& model, uint64_t seed, Precision precision = Precision::kInt8) {
    nn::ParameterArray values(model.table(), DType::kFloat32);
    nn::initialize(model.table(), values, RandomKey::from_seed(seed));
    write_json(float_.path("config.json"), model.config_json());
    write_weights(float_.path(), model.table(), values, DType::kFloat32);
    const LoadedModel loaded = load_model(float_.path(), {.precision = precision});
    write_quantized_weights(quantized_.path(), loaded.model->table(), loaded.values, *loaded.quantized,
                            WeightFiles::open(float_.path()));
    nlohmann::ordered_json config = model.config_json();
    note_quantization(config, integer_bits(precision));
    write_json(quantized_.path("config.json"), config);
  }
  static Tensor logits(const LoadedModel& loaded) {
    nn::Context context = loaded.context();
    Sequences source, target;
    source.append(std::vector<int32_t>{3, 7, 1, 0});
    target.append(std::vector<int32_t>{20, 5, 6});
    return loaded.seq2seq().logits(context, source, target);
  }
  void set_note(const std::string& key, const nlohmann::ordered_json& value) const {
    auto config = nlohmann::ordered_json::parse(read_file(quantized_.path("config.json")));
    config["quantization_config"][key] = value;
    write_json(quantized_.path("config.json"), config);
  }
  /// Writes the weights again after a change.
  template <typename Change>
  void change_weights(const Change& change) const {
    std::vector<std::pair<std::string, Tensor>> tensors;
    {
      const auto file = SafetensorsReader::open(quantized_.path("model.safetensors"));
      for (const TensorInfo& info : file.infos()) tensors.emplace_back(info.name, file.read(info.name));
    }
    std::vector<std::pair<std::string, Tensor>> changed;
    for (auto& each : tensors) {
      if (change(each)) changed.push_back(each);
    }
    write_safetensors(quantized_.path("model.safetensors"), changed, {{"format", "pt"}});
  }
  void expect_refusal(const std::string& message) const {
    expect_error(ErrorKind::kFormat, message, [&] { load_model(quantized_.path()); });
  }

  /// With a tensor replaced, or left out if `instead` is undefined.
  void expect_refusal_with(const std::string& name, const Tensor& instead, const std::string& message) const {
    const std::string whole = read_file(quantized_.path("model.safetensors"));
    change_weights([&](std::pair<std::string, Tensor>& each) {
      if (each.first == name) each.second = instead;
      return each.second.defined();
    });
    expect_refusal(message);
    quantized_.write("model.safetensors", whole);
  }

  TestFolder float_, quantized_;
};

TEST_F(QuantizedDirectory, EqualsAFloatModelQuantizedOnLoading) {
  const LoadedModel stored = load_model(quantized_.path());
  EXPECT_EQ(stored.precision, Precision::kInt8);
  const Tensor expected = logits(load_model(float_.path(), {.precision = Precision::kInt8}));
  expect_equal(logits(stored), expected, "int8 from both directories");
  EXPECT_NE(logits(load_model(float_.path())).to_vector<float>(), expected.to_vector<float>())
      << "float32 is the same: nothing was quantized";
}

// Files are read in parts of 256 KB: 2,730 rows of 24 floats and 16 of the next one, or 5,461 rows of 24
// numbers in 16 bits and 8 of the next one.
TEST_F(QuantizedDirectory, RowsMayBePartsOfTwoPartsOfTheFile) {
  TransformerConfig config = tiny_transformer();
  config.width = 24;
  config.encoder_inner_width = 6000;
  const Transformer model(config);
  write(model, 4);
  const nn::ParameterTable& table = model.table();
  nn::ParameterArray values(table, DType::kFloat32);
  nn::initialize(table, values, RandomKey::from_seed(4));
  for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
    write_weights(float_.path(), table, values, dtype);
    const LoadedModel loaded = load_model(float_.path(), {.precision = Precision::kInt8});
    nn::QuantizedParameters expected(table);
    for (int row = 0; row < table.size(); ++row) {
      if (!expected.holds_row(row)) continue;
      const Tensor weight = values.view(table, {row, 1}).to(dtype).to(DType::kFloat32);
      expected.quantize(row, weight.data<float>());
      const auto whole = expected.matrix({row, 1}), in_parts = loaded.quantized->matrix({row, 1});
      const std::string what = table[row].name + ", " + name_of(dtype);
      EXPECT_TRUE(std::equal(whole.values, whole.values + whole.out * whole.in, in_parts.values)) << what;
      EXPECT_TRUE(std::equal(whole.scales, whole.scales + whole.out, in_parts.scales)) << what;
    }
  }
}

// 4 bytes become 1, and a scale for a row of 16 numbers: with such short rows, nearly half.
TEST_F(QuantizedDirectory, IsSmaller) {
  const auto size = [](const TestFolder& folder) {
    return static_cast<double>(std::filesystem::file_size(folder.path("model.safetensors")));
  };
  EXPECT_LT(size(quantized_), 0.75 * size(float_));
  const auto file = SafetensorsReader::open(quantized_.path("model.safetensors"));
  EXPECT_EQ(file.info("model.shared.weight").dtype, DType::kInt8);
  EXPECT_EQ(file.info("model.shared.weight_scale").shape, (Shape{21}));
  EXPECT_EQ(file.info("model.encoder.layers.1.fc2.weight").shape, (Shape{16, 24}));
  EXPECT_EQ(file.info("model.encoder.layers.1.fc2.weight_scale").dtype, DType::kFloat32);
  EXPECT_EQ(file.info("model.decoder.layers.0.final_layer_norm.weight").dtype, DType::kFloat32);
  EXPECT_FALSE(file.has("model.decoder.layers.0.final_layer_norm.weight_scale"));
}

TEST_F(QuantizedDirectory, OpensInFloat32Too) {
  const LoadedModel loaded = load_model(quantized_.path(), {.precision = Precision::kFloat32});
  EXPECT_EQ(loaded.precision, Precision::kFloat32);
  const LoadedModel original = load_model(float_.path());
  for (int row = 0; row < loaded.model->table().size(); ++row) {
    const nn::ParamRef ref{row, 1};
    const Tensor rounded = loaded.values.view(loaded.model->table(), ref);
    const Tensor exact = original.values.view(original.model->table(), ref);
    if (nn::QuantizedParameters::bits_of(loaded.model->table()[row], 8) != 0) {
      expect_close(rounded, exact, 1.0 / 127, loaded.model->table()[row].name);  // weights are below 2
    } else {
      expect_equal(rounded, exact, loaded.model->table()[row].name);
    }
  }
  EXPECT_NE(logits(loaded).to_vector<float>(), logits(load_model(quantized_.path())).to_vector<float>())
      << "activations are not rounded in float32";
}

TEST_F(QuantizedDirectory, TransposedMatrices) {
  DecoderOnlyConfig config;
  config.family = &gpt2_family();
  config.vocabulary = 11;
  config.width = 8;
  config.layers = 1;
  config.heads = 2;
  config.inner_width = 6;
  config.max_length = 12;
  write(DecoderOnly(config), 4);
  const auto file = SafetensorsReader::open(quantized_.path("model.safetensors"));
  EXPECT_EQ(file.info("transformer.h.0.attn.c_attn.weight").shape, (Shape{24, 8}));
  const auto run = [](const LoadedModel& loaded) {
    nn::Context context = loaded.context();
    Sequences text;
    text.append(std::vector<int32_t>{1, 5, 3});
    return loaded.language_model().logits(context, text);
  };
  const Tensor expected = run(load_model(float_.path(), {.precision = Precision::kInt8}));
  expect_equal(run(load_model(quantized_.path())), expected, "int8 from both directories");
}

/// The same with matrices in 4 bits: widths are whole groups, but for one.
class DirectoryIn4Bits : public QuantizedDirectory {
 protected:
  DirectoryIn4Bits() {
    TransformerConfig config = tiny_transformer();
    config.width = 32;
    config.encoder_inner_width = 64;
    config.decoder_inner_width = 40;
    write(Transformer(config), 5, Precision::kInt4);
  }
};

TEST_F(DirectoryIn4Bits, EqualsAFloatModelQuantizedOnLoading) {
  const LoadedModel stored = load_model(quantized_.path());
  EXPECT_EQ(stored.precision, Precision::kInt4);
  const Tensor expected = logits(load_model(float_.path(), {.precision = Precision::kInt4}));
  expect_equal(logits(stored), expected, "int4 from both directories");
  EXPECT_NE(logits(stored).to_vector<float>(), logits(load_model(float_.path())).to_vector<float>());
}

TEST_F(DirectoryIn4Bits, VocabulariesAndRowsThatAreNotWholeGroupsHave8Bits) {
  const auto file = SafetensorsReader::open(quantized_.path("model.safetensors"));
  EXPECT_EQ(file.info("model.shared.weight").shape, (Shape{21, 32}));
  EXPECT_EQ(file.info("model.encoder.layers.0.fc2.weight").shape, (Shape{32, 32})) << "two in each byte";
  EXPECT_EQ(file.info("model.encoder.layers.0.fc2.weight_scale").shape, (Shape{32, 2}));
  EXPECT_EQ(file.info("model.encoder.layers.0.fc2.weight_min").dtype, DType::kFloat16);
  EXPECT_EQ(file.info("model.decoder.layers.0.fc2.weight").shape, (Shape{32, 40})) << "40 is no whole group";
  EXPECT_FALSE(file.has("model.decoder.layers.0.fc2.weight_min"));
}

TEST_F(DirectoryIn4Bits, OpensInFloatsButNotInOtherIntegers) {
  const LoadedModel widened = load_model(quantized_.path(), {.precision = Precision::kFloat32});
  expect_close(logits(widened), logits(load_model(quantized_.path())), 0.2, "with rounded activations");
  for (int row = 0; row < widened.model->table().size(); ++row) {
    const nn::ParamRef ref{row, 1};
    expect_close(widened.values.view(widened.model->table(), ref),
                 load_model(float_.path()).values.view(widened.model->table(), ref), 0.05,
                 widened.model->table()[row].name);
  }
  expect_error(ErrorKind::kUsage, "have 4 bits: for int8, use the float model",
               [&] { load_model(quantized_.path(), {.precision = Precision::kInt8}); });
}

TEST_F(DirectoryIn4Bits, DamagedWeightsAreRefused) {
  const std::string minimum = "model.encoder.layers.0.fc2.weight_min";
  expect_refusal_with(minimum, {}, "'" + minimum + "' of shape (32, 2), required by config.json, is missing");
  expect_refusal_with(minimum, Tensor::zeros({32, 2}), "has the type F32, expected F16");
  expect_refusal_with(minimum, Tensor::from(std::vector<float>(64, NAN), {32, 2}).to(DType::kFloat16),
                      "'" + minimum + "' contains nan");
}

TEST(QuantizedTo4Bits, WeightsThatFloat16CannotHoldAreRefused) {
  TestFolder folder;
  TransformerConfig config = tiny_transformer();
  config.width = 32;
  const Transformer model(config);
  nn::ParameterArray values(model.table(), DType::kFloat32);
  nn::initialize(model.table(), values, RandomKey::from_seed(5));
  for (int row = 0; row < model.table().size(); ++row) {
    if (model.table()[row].name.ends_with("0.fc1.weight")) {
      values.view(model.table(), {row, 1}).data<float>()[7] = 70000;
    }
  }
  write_json(folder.path("config.json"), model.config_json());
  write_weights(folder.path(), model.table(), values, DType::kFloat32);
  expect_error(ErrorKind::kFormat, "fc1.weight' contains 70000: 4 bits are for weights up to 65504",
               [&] { load_model(folder.path(), {.precision = Precision::kInt4}); });
}

TEST_F(QuantizedDirectory, OtherQuantizationMethodsAreRefused) {
  set_note("quant_method", "bitsandbytes");
  expect_refusal("heed_int8 or heed_int4, the formats of heed quantize");
  set_note("quant_method", "heed_int8");
  set_note("version", 2);
  expect_refusal("quantize the float model again");
}

TEST_F(QuantizedDirectory, DamagedWeightsAreRefused) {
  const std::string matrix = "model.shared.weight", scale = matrix + "_scale";
  expect_refusal_with(scale, {}, "'" + scale + "' of shape (21), required by config.json, is missing");
  expect_refusal_with(scale, Tensor::zeros({20}), "'" + scale + "' has the shape (21) by config.json");
  expect_refusal_with(scale, Tensor::from(std::vector<float>(21, NAN), {21}), "'" + scale + "' contains nan");
  expect_refusal_with(scale, Tensor::zeros({21}, DType::kInt8), "expected F32, F16, BF16 or F64");
  expect_refusal_with(matrix, Tensor::zeros({21, 16}), "expected I8");
  expect_refusal_with(matrix, Tensor::zeros({16, 21}, DType::kInt8), "the shape (21, 16)");
  const std::string whole = read_file(quantized_.path("model.safetensors"));
  quantized_.write("model.safetensors", whole.substr(0, whole.size() - 1));
  expect_refusal("model.safetensors");
}

// Integer weights without quantization_config.
TEST_F(QuantizedDirectory, IsNotReadAsAFloatModel) {
  auto config = nlohmann::ordered_json::parse(read_file(quantized_.path("config.json")));
  config.erase("quantization_config");
  write_json(quantized_.path("config.json"), config);
  expect_refusal("_scale', which is not a parameter of this model");
}

TEST_F(QuantizedDirectory, CannotBeFineTuned) {
  expect_error(ErrorKind::kUsage, "train the original float model", [&] {
    read_for_fine_tuning(ModelDirectory::open(quantized_.path()), architecture_named("transformer"), {});
  });
}

}  // namespace
}  // namespace heed::models
