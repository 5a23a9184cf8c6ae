// Where weights are kept: those of 16-bit files in 16 bits, those of large float32 files in the files.
// Results are those of float32 in memory.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_pool.h"
#include "base/text/json_file.h"
#include "compare.h"
#include "io/safetensors/safetensors.h"
#include "models/architecture.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/transformer.h"
#include "test_folder.h"

namespace heed::models {
namespace {

constexpr LoadOptions kKept{.storage = WeightStorage::kCompact}, kPacked{.storage = WeightStorage::kPacked},
    kWidened{.storage = WeightStorage::kFloat32};

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
    // Scratch memory of the thread, which AMX needs more of, is allocated once and stays: not part of a
    // model.
    logits(load_model(folder.path(), options));
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

TEST(WeightsInFiles, GiveTheResultsOfFloat32) {
  for (const char* architecture : {"llama", "gpt2"}) {  // whose files hold transposes
    const TestFolder folder;
    write_model(*make(architecture, 24, 150), folder, DType::kFloat32);
    const LoadedModel kept = load_model(folder.path(), kKept), whole = load_model(folder.path(), kWidened);
    ASSERT_NE(kept.in_files, nullptr);
    EXPECT_EQ(kept.half, nullptr);
    EXPECT_EQ(whole.in_files, nullptr);
    EXPECT_LT(kept.values.flat().size(), whole.values.flat().size() / 5);
    expect_equal(logits(kept), logits(whole), architecture);
    const nn::ParameterTable& table = kept.model->table();
    for (int row = 0; row < table.size(); ++row) {
      if (!kept.in_files->holds_row(row)) continue;
      expect_equal(kept.in_files->floats({row, 1}), whole.values.view(table, {row, 1}), table[row].name);
    }
  }
}

// Parts of a file do not end where rows end.
TEST(QuantizedWhileRead, HasTheNumbersOfWholeMatrices) {
  for (const char* architecture : {"llama", "gpt2"}) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      const TestFolder folder;
      write_model(*make(architecture, 24, 7000), folder, dtype);
      const LoadedModel whole = load_model(folder.path(), kWidened);
      const nn::ParameterTable& table = whole.model->table();
      nn::QuantizedParameters expected(table);
      const LoadedModel read = load_model(folder.path(), {.precision = Precision::kInt8});
      for (int row = 0; row < table.size(); ++row) {
        if (!expected.holds_row(row)) continue;
        expected.quantize(row, whole.values.view(table, {row, 1}).data<float>());
        expect_equal(read.quantized->floats({row, 1}), expected.floats({row, 1}), table[row].name);
      }
    }
  }
}

TEST(WeightsInFiles, RowsOfStackedParameters) {
  for (const bool transposed : {false, true}) {
    nn::ParameterTable table;
    table.add({"a", {3, 4}, {}, {}});
    table.add({"b", {5, 4}, {}, {}});
    for (const int row : {0, 1}) table.set_fewest_bits(row, 8);
    if (transposed) table.set_transposed(1);
    nn::ParameterArray values(table, DType::kFloat32);
    for (int n = 0; n < 32; ++n) values.flat().data<float>()[n] = static_cast<float>(n);
    const TestFolder folder;
    write_weights(folder.path(), table, values, DType::kFloat32);
    const auto files = std::make_shared<const WeightFiles>(WeightFiles::open(folder.path()));
    const auto in_files = file_parameters(files, table);
    std::vector<float> rows(12), expected(12);
    in_files->widen({0, 2}, 2, 3, rows.data());  // the last of the first, two of the second
    for (int n = 0; n < 12; ++n) expected[static_cast<size_t>(n)] = static_cast<float>(8 + n);
    EXPECT_EQ(rows, expected) << transposed;

    const std::vector<float> x{1, 2, 3, 4};
    const std::vector<int32_t> outputs{7, 0};
    std::vector<float> y(2);
    in_files->multiply_selected(
        {0, 2}, {.rows = 1, .in = 4, .count = 2, .x = x.data(), .outputs = outputs.data(), .y = y.data()});
    EXPECT_EQ(y, (std::vector<float>{28 + 58 + 90 + 124, 0 + 2 + 6 + 12})) << transposed;
  }
}

TEST(WeightsInFiles, TakeHalfTheMemory) {
  const TestFolder folder;
  write_model(*make("llama", 256, 3000), folder, DType::kFloat32);
  const auto bytes_with = [&](const LoadOptions& options) {
    // Scratch memory of the thread, which AMX needs more of, is allocated once and stays: not part of a
    // model.
    logits(load_model(folder.path(), options));
    const uint64_t before = pool_statistics().bytes_in_use;
    const LoadedModel loaded = load_model(folder.path(), options);
    logits(loaded);
    return pool_statistics().bytes_in_use - before;
  };
  const uint64_t kept = bytes_with(kKept), whole = bytes_with(kWidened);
  EXPECT_LT(5 * kept, 3 * whole) << kept << " bytes instead of " << whole;
}

TEST(WeightsInFiles, OfAFileThatIsChangedAreAnError) {
  for (const bool truncated : {true, false}) {
    const TestFolder folder;
    write_model(*make("llama"), folder, DType::kFloat32);
    const LoadedModel loaded = load_model(folder.path(), kKept);
    const std::string path = folder.path("model.safetensors");
    if (truncated) {
      std::filesystem::resize_file(path, 100);
    } else {
      const auto time = std::filesystem::last_write_time(path);
      std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(-8, std::ios::end)
          << "changed!";
      std::filesystem::last_write_time(path, time + std::chrono::milliseconds(10));  // clocks are coarse
    }
    expect_error(ErrorKind::kFile, truncated ? "truncated" : "was changed while it was in use",
                 [&] { logits(loaded); });
  }
}

TEST(WeightsInFiles, AreThoseOfTheFileThatWasOpened) {
  const TestFolder folder;
  write_model(*make("llama"), folder, DType::kFloat32);
  const Tensor expected = logits(load_model(folder.path(), kWidened));
  const LoadedModel loaded = load_model(folder.path(), kKept);
  std::filesystem::remove(folder.path("model.safetensors"));
  folder.write("model.safetensors", "another file");
  expect_equal(logits(loaded), expected, "logits");
}

TEST(WeightsInFiles, MustBeFinite) {
  for (const char* architecture : {"llama", "gpt2"}) {
    const std::unique_ptr<Model> model = make(architecture);
    const nn::ParameterTable& table = model->table();
    for (int row = 0; row < table.size(); ++row) {
      if (!nn::is_compressible(table[row])) continue;
      const TestFolder folder;
      nn::ParameterArray values(table, DType::kFloat32);
      values.view(table, {row, 1}).data<float>()[19] = NAN;
      write_json(folder.path("config.json"), model->config_json());
      write_weights(folder.path(), table, values, DType::kFloat32);
      expect_error(ErrorKind::kFormat, "'" + table[row].name + "' contains nan at index 19",
                   [&] { load_model(folder.path(), kKept); });
    }
  }
}

TEST(WeightsInFiles, DamageIsNoticedWhenTheModelIsOpened) {
  const TestFolder folder;
  write_model(*make("llama"), folder, DType::kFloat32);
  std::fstream(folder.path("model.safetensors"), std::ios::in | std::ios::out | std::ios::binary)
          .seekp(-8, std::ios::end)
      << "damaged!";
  expect_error(ErrorKind::kFormat, "is damaged", [&] { load_model(folder.path(), kKept); });
}

}  // namespace
}  // namespace heed::models
