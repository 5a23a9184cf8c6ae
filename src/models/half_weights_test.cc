// Models whose files hold 16 bits: kept so in memory, with the results of float32.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/json_file.h"
#include "base/memory_pool.h"
#include "compare.h"
#include "io/safetensors.h"
#include "models/architecture.h"
#include "models/model_directory.h"
#include "models/transformer.h"
#include "test_folder.h"

namespace heed::models {
namespace {

constexpr LoadOptions kKept{.half_storage = HalfStorage::kCompact},
    kPacked{.half_storage = HalfStorage::kPacked}, kWidened{.half_storage = HalfStorage::kFloat32};

/// Writes a model with random weights.
void write_model(const Model& model, const TestFolder& folder, DType dtype) {
  nn::ParameterArray values(model.table(), DType::kFloat32);
  nn::initialize(model.table(), values, RandomKey::from_seed(7));
  write_json(folder.path("config.json"), model.config_json());
  write_weights(folder.path(), model.table(), values, dtype);
}

std::unique_ptr<Model> make(const std::string& architecture_name, int64_t width = 16,
                            int64_t vocabulary = 75) {
  const Architecture& architecture = architecture_named(architecture_name);
  ModelSettings settings = architecture.preset(PresetSize::kTiny).settings;
  settings.vocabulary = vocabulary;
  settings.width = width;
  settings.layers = 2;
  settings.heads = 2;
  settings.inner_width = 3 * width;
  settings.max_length = 12;
  settings.end_id = 2;
  return architecture.make(settings);
}

Tensor logits(const LoadedModel& loaded) {
  nn::Context context = loaded.context();
  Sequences text;
  text.append(std::vector<int32_t>{1, 5, 3, 70});
  return loaded.language_model().logits(context, text);
}

TEST(HalfWeights, GiveTheResultsOfFloat32) {
  for (const char* architecture : {"llama", "gpt2"}) {  // whose files hold transposes
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
      const TestFolder folder;
      write_model(*make(architecture), folder, dtype);
      const LoadedModel kept = load_model(folder.path(), kKept);
      ASSERT_NE(kept.half, nullptr);
      EXPECT_EQ(kept.half->dtype(), dtype);
      EXPECT_EQ(kept.precision, Precision::kFloat32);
      const LoadedModel widened = load_model(folder.path(), kWidened);
      EXPECT_EQ(widened.half, nullptr);
      expect_equal(logits(kept), logits(widened), name_of(dtype));
      const LoadedModel packed = load_model(folder.path(), kPacked);
      EXPECT_NE(packed.half, nullptr);
      expect_equal(logits(packed), logits(widened), name_of(dtype));
    }
  }
}

TEST(HalfWeights, OfATranslationModel) {
  TransformerConfig config;
  config.vocabulary = 21;
  config.width = 16;
  config.encoder_layers = config.decoder_layers = 2;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 24;
  config.max_length = 12;
  config.padding_id = config.start_id = 20;
  const TestFolder folder;
  write_model(Transformer(config), folder, DType::kFloat16);
  const auto run = [](const LoadedModel& loaded) {
    nn::Context context = loaded.context();
    Sequences source, target;
    source.append(std::vector<int32_t>{3, 7, 1, 0});
    target.append(std::vector<int32_t>{20, 5, 6});
    return loaded.seq2seq().logits(context, source, target);
  };
  const Tensor expected = run(load_model(folder.path(), kWidened));
  expect_equal(run(load_model(folder.path(), kKept)), expected, "logits");
  expect_equal(run(load_model(folder.path(), kPacked)), expected, "logits, packed once");
}

TEST(HalfWeights, TakeLessMemory) {
  const TestFolder folder;
  write_model(*make("llama", 256, 3000), folder, DType::kBFloat16);
  const auto bytes_with = [&](const LoadOptions& options) {
    const uint64_t before = pool_statistics().bytes_in_use;
    const LoadedModel loaded = load_model(folder.path(), options);
    logits(loaded);
    return pool_statistics().bytes_in_use - before;
  };
  const uint64_t kept = bytes_with(kKept), packed = bytes_with(kPacked), widened = bytes_with(kWidened);
  EXPECT_LT(3 * kept, widened) << kept << " bytes instead of " << widened;
  EXPECT_LT(5 * packed, 4 * widened) << packed << " bytes instead of " << widened;
}

TEST(HalfWeights, AreOnlyKeptIfAllMatricesHaveTheType) {
  const TestFolder folder;
  write_model(*make("llama"), folder, DType::kFloat32);
  EXPECT_EQ(load_model(folder.path(), kKept).half, nullptr);
  std::vector<std::pair<std::string, Tensor>> tensors;
  {
    const auto file = SafetensorsReader::open(folder.path("model.safetensors"));
    for (const TensorInfo& info : file.infos()) {
      const bool rounded = info.name.find("down_proj") == std::string::npos && info.shape.rank() == 2;
      tensors.emplace_back(info.name,
                           rounded ? file.read(info.name).to(DType::kFloat16) : file.read(info.name));
    }
  }
  write_safetensors(folder.path("model.safetensors"), tensors, {{"format", "pt"}});
  EXPECT_EQ(load_model(folder.path(), kKept).half, nullptr) << "one kind of matrix is in float32";
  for (auto& [name, tensor] : tensors) {
    if (tensor.rank() == 2) tensor = tensor.to(DType::kFloat16);
  }
  write_safetensors(folder.path("model.safetensors"), tensors, {{"format", "pt"}});
  const LoadedModel loaded = load_model(folder.path(), kKept);
  EXPECT_NE(loaded.half, nullptr) << "norms may be in float32";
  expect_equal(logits(loaded), logits(load_model(folder.path(), kWidened)), "logits");
}

TEST(HalfWeights, MustBeFinite) {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const TestFolder folder;
    const std::unique_ptr<Model> model = make("llama");
    nn::ParameterArray values(model->table(), DType::kFloat32);
    values.flat().data<float>()[5] = INFINITY;
    write_json(folder.path("config.json"), model->config_json());
    write_weights(folder.path(), model->table(), values, dtype);
    expect_error(ErrorKind::kFormat, "embed_tokens.weight' contains inf at index 5",
                 [&] { load_model(folder.path(), kKept); });
  }
}

}  // namespace
}  // namespace heed::models
