// Commands with directories of CTranslate2 that `heed convert` wrote from models of many families: the same
// translations and continuations as from the originals, with any of their tokenizer files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "command.h"
#include "compare.h"
#include "heed/positions.h"
#include "io/ctranslate2_file.h"
#include "io/safetensors/safetensors.h"
#include "io/weight_files.h"
#include "reference.h"
#include "test_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;

class CliCtranslate2 : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(families_folder())) GTEST_SKIP() << missing_families();
  }
  static std::string model_of(const std::string& kind, const std::string& family) {
    return (families_folder() / kind / family / "model").string();
  }
  static std::string output_of(std::vector<std::string> arguments) {
    const CommandResult result = heed_command(std::move(arguments));
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  }
  /// The model, converted for CTranslate2 or back.
  std::string converted(const std::string& model, const std::string& name, const std::string& to) const {
    std::string output = folder_.path(name);
    output_of({"convert", model, output, "--to", to, "--quiet"});
    return output;
  }
  static std::string translations(const std::string& model, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"translate", "The dog is in the garden.", "--model", model, "--beam", "3",
                               "--json", "--max-length", "40"});
    return output_of(std::move(more));
  }
  TestFolder folder_;
};

TEST_F(CliCtranslate2, TranslationsAreThoseOfTheOriginal) {
  for (const std::string family : {"nllb", "m2m100", "mbart50", "bart", "t5", "t5_gated"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("seq2seq_families", family);
    const std::string expected = translations(original), there = converted(original, family, "ctranslate2");
    EXPECT_THAT(output_of({"info", "--model", there}), HasSubstr("(CTranslate2)"));
    EXPECT_EQ(translations(there), expected);
    EXPECT_EQ(translations(converted(there, family + "-back", "huggingface")), expected);
  }
}

TEST_F(CliCtranslate2, ContinuationsAreThoseOfTheOriginal) {
  for (const std::string family : {"smollm2", "qwen2", "qwen3", "mistral", "gemma3"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("decoder_families", family);
    const auto text = [](const std::string& model) {
      return output_of(
          {"generate", "The dog is", "--model", model, "--greedy", "--max-tokens", "20", "--ignore-end"});
    };
    const std::string expected = text(original), there = converted(original, family, "ctranslate2");
    EXPECT_EQ(text(there), expected);
    EXPECT_EQ(text(converted(there, family + "-back", "huggingface")), expected);
  }
}

// transformers opens no file in which final_logits_bias is (V), as it is in model.bin.
TEST_F(CliCtranslate2, BiasesHaveTheShapeOfTransformers) {
  for (const std::string family : {"bart", "mbart50"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("seq2seq_families", family);
    const std::string back =
        converted(converted(original, family, "ctranslate2"), family + "-back", "huggingface");
    const int64_t vocabulary = JsonObject::read(original + "/config.json").integer("vocab_size");
    EXPECT_EQ(WeightFiles::open(back).info("final_logits_bias").shape, (Shape{1, vocabulary}));
  }
}

// With an output layer of its own, transformers 5 does not give the shared embedding to the stacks.
TEST_F(CliCtranslate2, EmbeddingsOfUntiedModelsAreWrittenForBothStacks) {
  // A model of BART with an output layer of its own.
  const std::string original = model_of("seq2seq_families", "bart"), untied = folder_.path("untied");
  std::filesystem::copy(original, untied);
  const WeightFiles files = WeightFiles::open(original);
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const std::string& name : files.names()) tensors.emplace_back(name, files.read(name));
  Tensor output = files.read("model.shared.weight").clone();
  for (int64_t i = 0; i < output.size(); ++i) output.data<float>()[i] *= i % 3 == 0 ? 0.9F : 1;
  tensors.emplace_back("lm_head.weight", output);
  write_safetensors(untied + "/model.safetensors", tensors, {{"format", "pt"}});
  auto config = JsonObject::read(original + "/config.json").json();
  config["tie_word_embeddings"] = false;
  write_json(untied + "/config.json", config);

  for (const auto& [name, model, prefix] :
       {std::tuple{"t5_gated", model_of("seq2seq_families", "t5_gated"), ""},
        std::tuple{"bart", untied, "model."}}) {
    SCOPED_TRACE(name);
    const std::string there = converted(model, fmt::format("{}-there", name), "ctranslate2");
    const std::string back = converted(there, fmt::format("{}-back", name), "huggingface");
    const WeightFiles weights = WeightFiles::open(back);
    const Tensor shared = weights.read(fmt::format("{}shared.weight", prefix));
    for (const char* stack : {"encoder", "decoder"})
      expect_equal(weights.read(fmt::format("{}{}.embed_tokens.weight", prefix, stack)), shared, stack);
    EXPECT_EQ(translations(back), translations(model));
  }
  EXPECT_NE(translations(untied), translations(original)) << "the output layer changes nothing";
  const std::string tied =
      converted(converted(original, "tied-there", "ctranslate2"), "tied-back", "huggingface");
  EXPECT_FALSE(WeightFiles::open(tied).has("model.encoder.embed_tokens.weight"));
}

TEST_F(CliCtranslate2, GenerationSettingsOfLanguageModelsAreKept) {
  const std::string original = model_of("decoder_families", "qwen2");
  const std::string there = converted(original, "there", "ctranslate2"), file = "/generation_config.json";
  nlohmann::ordered_json settings = JsonObject::read(there + file).json();
  settings["top_k"] = 7;
  write_json(there + file, settings);
  for (const char* to : {"huggingface", "heed"}) {
    const std::string back = converted(there, to, to);
    EXPECT_EQ(read_file(back + file), read_file(there + file)) << to;
  }
  std::filesystem::remove(there + file);
  EXPECT_FALSE(std::filesystem::exists(converted(there, "without", "huggingface") + file));
}

// A row of 1e-38 has the scale 127 / 1e-38, beyond float32.
TEST_F(CliCtranslate2, TinyWeightsBecomeZero) {
  const std::string original = model_of("decoder_families", "qwen2"), tiny = folder_.path("tiny");
  std::filesystem::copy(original, tiny);
  const WeightFiles files = WeightFiles::open(original);
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const std::string& name : files.names()) {
    Tensor tensor = files.read(name).to(DType::kFloat32);
    if (name == "model.layers.0.mlp.down_proj.weight")
      std::fill_n(tensor.data<float>(), tensor.dim(1), 1e-38F);
    if (name == "model.layers.0.mlp.up_proj.weight")
      std::fill_n(tensor.data<float>(), tensor.size(), -1e-39F);
    tensors.emplace_back(name, tensor);
  }
  std::filesystem::remove(tiny + "/model.safetensors");
  write_safetensors(tiny + "/model.safetensors", tensors, {{"format", "pt"}});
  for (const char* weights : {"int8", "int16"}) {
    const std::string there = folder_.path(weights);
    output_of({"convert", tiny, there, "--to", "ctranslate2", "--weights", weights, "--quiet"});
    const auto file = Ctranslate2File::open(there + "/model.bin");
    const std::string down = "decoder/layer_0/ffn/linear_1/weight",
                      up = "decoder/layer_0/ffn/linear_0_noact/weight";
    const auto row = file.read_rows(down, 0, 1).to_vector<float>(), matrix = file.read(up).to_vector<float>();
    EXPECT_EQ(row, std::vector<float>(row.size())) << weights;
    EXPECT_EQ(matrix, std::vector<float>(matrix.size())) << weights;
  }
}

TEST_F(CliCtranslate2, SentencePieceModelsSuffice) {
  for (const std::string family : {"nllb", "m2m100", "mbart50"}) {
    SCOPED_TRACE(family);
    const std::string original = model_of("seq2seq_families", family),
                      there = converted(original, family, "ctranslate2");
    const auto config = JsonObject::read(original + "/tokenizer_config.json");
    const std::vector<std::string> languages{"--source-language", config.string("src_lang"),
                                             "--target-language", config.string("tgt_lang")};
    const std::string expected = translations(original, languages);
    for (const char* file : {"tokenizer.json", "vocab.json", "tokenizer_config.json"})
      std::filesystem::remove(there + "/" + file);
    EXPECT_EQ(translations(there, languages), expected);
    // Back in Heed's layout, the list of pieces stays with the model.
    const std::string back = folder_.path(family + "-back");
    output_of({"convert", there, back, "--quiet"});
    EXPECT_EQ(translations(back, languages), expected);
    expect_failure(
        heed_command({"convert", there, folder_.path(family + "-not"), "--to", "huggingface", "--quiet"}), 2,
        {"has no tokenizer.json", "the original model"});
    expect_failure(heed_command({"translate", "A dog.", "--model", there}), 2, {"choose one with"});
    std::filesystem::remove(there + "/sentencepiece.bpe.model");
    expect_failure(heed_command({"translate", "A dog.", "--model", there}), 1,
                   {"tokenizer.json or sentencepiece.bpe.model"});
  }
}

TEST_F(CliCtranslate2, TokenizersOfOtherModelsAreRefused) {
  const std::string there = converted(model_of("seq2seq_families", "nllb"), "nllb", "ctranslate2"),
                    list = there + "/shared_vocabulary.json";
  auto pieces = JsonObject::parse("{\"pieces\": " + read_file(list) + "}", list).json().at("pieces");
  std::swap(pieces.at(7), pieces.at(9));
  write_json(list, pieces);
  const CommandResult result = heed_command({"translate", "A dog.", "--model", there});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("token 7 is"));
  EXPECT_THAT(result.err, HasSubstr("use the tokenizer of this model"));
}

// Older directories have them there, and config.json of CTranslate2 is another one.
TEST_F(CliCtranslate2, SettingsOfConfigJsonAreKept) {
  const auto old = [&](const std::string& kind, const std::string& family, const nlohmann::json& settings) {
    std::string model = folder_.path(family + "-old");
    copy_folder(model_of(kind, family), model);
    std::filesystem::remove(model + "/generation_config.json");
    nlohmann::json config = JsonObject::read(model + "/config.json").json();
    config.update(settings);
    write_json(model + "/config.json", config);
    return model;
  };
  const auto settings_of = [](const std::string& model) {
    return JsonObject::read(model + "/generation_config.json").json();
  };
  const std::string bart = old("seq2seq_families", "bart", {{"no_repeat_ngram_size", 2}, {"min_length", 15}}),
                    there = converted(bart, "bart-there", "ctranslate2");
  EXPECT_EQ(settings_of(there)["no_repeat_ngram_size"], 2);
  EXPECT_EQ(settings_of(there)["forced_eos_token_id"], 2);
  const std::string expected = translations(bart);
  EXPECT_NE(expected, translations(model_of("seq2seq_families", "bart"))) << "the settings change nothing";
  EXPECT_EQ(translations(there), expected);
  EXPECT_EQ(translations(converted(there, "bart-back", "huggingface")), expected);

  const nlohmann::json ends{7, 8};
  const std::string qwen = old("decoder_families", "qwen2", {{"eos_token_id", ends}, {"top_k", 7}});
  EXPECT_EQ(settings_of(converted(qwen, "qwen-there", "ctranslate2"))["eos_token_id"], ends);
  EXPECT_EQ(settings_of(folder_.path("qwen-there"))["top_k"], 7);
}

// CTranslate2 finds the padding token by its name, and M2M-100 counts positions from its id.
TEST_F(CliCtranslate2, PaddingThatTheVocabularyDoesNotNameIsNotWritten) {
  const std::string model = folder_.path("model"), output = folder_.path("there");
  copy_folder(model_of("seq2seq_families", "m2m100"), model);
  for (const char* file : {"/config.json", "/generation_config.json"}) {
    nlohmann::json config = JsonObject::read(model + file).json();
    config["pad_token_id"] = 3;
    write_json(model + file, config);
  }
  expect_failure(heed_command({"convert", model, output, "--to", "ctranslate2"}), 2,
                 {"cannot be converted for CTranslate2", "pad_token_id in config.json is 3"});
  EXPECT_FALSE(std::filesystem::exists(output));
}

TEST_F(CliCtranslate2, Gemma2IsNotWritten) {
  const std::string output = folder_.path("gemma");
  expect_failure(
      heed_command({"convert", model_of("decoder_families", "gemma2"), output, "--to", "ctranslate2"}), 2,
      {"cannot be converted for CTranslate2", "of Gemma 2"});
  EXPECT_FALSE(std::filesystem::exists(output));
}

/// The bundled model, which needs no reference cases.
class CliMarianCtranslate2 : public CliCtranslate2 {
 protected:
  void SetUp() override { std::filesystem::copy(source_folder() + "/models/de-en", original_); }

  void change(const std::string& file, const nlohmann::json& values) const {
    nlohmann::json json = JsonObject::read(original_ + "/" + file).json();
    json.update(values);
    write_json(original_ + "/" + file, json);
  }
  /// Writes the weights anew, each changed by change(name, floats), with these added.
  void change_weights(const std::function<void(const std::string&, Tensor&)>& change,
                      std::vector<std::pair<std::string, Tensor>> more = {}) const {
    const WeightFiles files = WeightFiles::open(original_);
    for (const std::string& name : files.names()) {
      Tensor tensor = files.read(name).to(DType::kFloat32);
      change(name, tensor);
      more.emplace_back(name, tensor);
    }
    std::filesystem::remove(original_ + "/model.safetensors");
    write_safetensors(original_ + "/model.safetensors", more, {{"format", "pt"}});
  }
  static std::string translated(const std::string& model) {
    const CommandResult result =
        heed_command({"translate", "Der Zug fährt am 3. Mai um 14.30 Uhr. Er kostet z. B. 1.250 Euro.",
                      "DER HUND SCHLÄFT.", "Sie kaufte 2.345 Stück zu je 7,50 €, um 5 vor 12, am 31.12.",
                      "--json", "--alignment", "--model", model});
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out + result.err;
  }
  std::string original_ = folder_.path("original");
};

// The languages, by which values are compared and sentences split, and the settings of the search.
TEST_F(CliMarianCtranslate2, TranslationsAndWarningsAreThoseOfTheOriginal) {
  change("generation_config.json", {{"num_beams", 2}, {"length_penalty", 0.2}, {"max_length", 60}});
  change("tokenizer_config.json", {{"true_case_capitals", false}});
  const std::string expected = translated(original_), there = converted(original_, "there", "ctranslate2"),
                    back = converted(there, "back", "huggingface");
  EXPECT_THAT(expected, HasSubstr("the source does not say"));
  for (const std::string& model : {there, back}) {
    EXPECT_EQ(translated(model), expected) << model;
    const auto settings = JsonObject::read(model + "/generation_config.json").json();
    EXPECT_EQ(settings["alignment_heads"], nlohmann::json({{0, 0}})) << model;
    EXPECT_EQ(settings["pad_token_id"], 11999) << model;
  }
  std::filesystem::remove(there + "/tokenizer_config.json");
  EXPECT_NE(translated(there), expected) << "the languages change nothing";
  std::filesystem::remove(back + "/generation_config.json");
  EXPECT_NE(translated(back), expected) << "the settings change nothing";
}

// The padding token is the last one in the copy, whichever it was.
TEST_F(CliMarianCtranslate2, IdsBehindThePaddingTokenMove) {
  const int32_t pad = 11999, other = 12;
  auto vocabulary = JsonObject::read(original_ + "/vocab.json").json();
  for (auto& id : vocabulary) id = id == pad ? other : id == other ? pad : id.get<int32_t>();
  write_json(original_ + "/vocab.json", vocabulary);
  change("config.json", {{"pad_token_id", other}, {"decoder_start_token_id", other}});
  change("tokenizer_config.json",
         {{"added_tokens_decoder", {{std::to_string(other), {{"content", "<pad>"}, {"special", true}}}}}});
  // "The" at the beginning is forbidden.
  change("generation_config.json", {{"pad_token_id", other},
                                    {"decoder_start_token_id", other},
                                    {"bad_words_ids", {{other}}},
                                    {"begin_suppress_tokens", {vocabulary.at("▁The")}}});
  std::filesystem::remove(original_ + "/shortlist.safetensors");
  change_weights([&](const std::string& name, Tensor& tensor) {
    if (name != "model.shared.weight" && name != "final_logits_bias") return;
    const int64_t width = tensor.size() / (pad + 1);
    float* rows = tensor.data<float>();
    std::swap_ranges(rows + pad * width, rows + (pad + 1) * width, rows + other * width);
  });
  const auto run = [](const std::string& model) {
    return nlohmann::json::parse(
        output_of({"translate", "Der Hund schläft im Garten.", "--json", "--model", model}));
  };
  const nlohmann::json expected = run(original_);
  EXPECT_NE(expected["translation"], run(source_folder() + "/models/de-en")["translation"])
      << "no token was forbidden";
  const std::string there = converted(original_, "there", "ctranslate2"),
                    back = converted(there, "back", "huggingface");
  const JsonObject settings = JsonObject::read(there + "/generation_config.json");
  EXPECT_EQ(settings.integer("pad_token_id"), pad);
  EXPECT_EQ(settings.json()["begin_suppress_tokens"][0], vocabulary.at("▁The").get<int32_t>() - 1);
  EXPECT_FALSE(JsonObject::read(there + "/tokenizer_config.json").has("added_tokens_decoder"));
  for (const std::string& model : {there, back}) {
    const nlohmann::json moved = run(model);
    EXPECT_EQ(moved["translation"], expected["translation"]) << model;
    EXPECT_EQ(moved["pieces"], expected["pieces"]) << model;
    // Sums over the vocabulary have another order.
    EXPECT_NEAR(moved["log_probability"], expected["log_probability"], 1e-4) << model;
  }
}

// Files may hold the sinusoidal positions, rounded to 16 bits; their model computes with these.
TEST_F(CliMarianCtranslate2, StoredPositionsAreWritten) {
  const std::string before = translated(original_);
  const Tensor halves = sinusoidal_positions(512, 256, SinusoidLayout::kHalves).to(DType::kBFloat16);
  const Tensor rounded = halves.to(DType::kFloat32);
  change_weights(
      [](const std::string&, const Tensor&) {},
      {{"model.encoder.embed_positions.weight", rounded}, {"model.decoder.embed_positions.weight", rounded}});
  const std::string expected = translated(original_);
  ASSERT_NE(expected, before) << "the rounding changes no score";
  const std::string there = converted(original_, "there", "ctranslate2");
  expect_equal(Ctranslate2File::open(there + "/model.bin").read("decoder/position_encodings/encodings"),
               rounded, "positions");
  EXPECT_EQ(translated(there), expected);
}

TEST_F(CliMarianCtranslate2, FilesAreVerified) {
  const std::string there = converted(original_, "there", "ctranslate2");
  EXPECT_EQ(output_of({"info", there, "--verify"}), "model.bin  no hash stored\n");
  std::filesystem::resize_file(there + "/model.bin", 1'000'000);
  const CommandResult damaged = heed_command({"info", there, "--verify"});
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, HasSubstr("model.bin  damaged"));
}

TEST_F(CliMarianCtranslate2, ThereAreNoShards) {
  expect_failure(
      heed_command({"convert", original_, folder_.path("x"), "--to", "ctranslate2", "--shard-size", "10"}), 2,
      {"--shard-size excludes --to ctranslate2"});
}

}  // namespace
}  // namespace heed
