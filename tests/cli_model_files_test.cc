// Command tests of model files: search settings, damaged weights, weights that give NaN, and option names in
// errors.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "command.h"
#include "io/safetensors/safetensors.h"
#include "io/torch/test_torch_bytes.h"
#include "io/weight_files.h"
#include "models/config/decoder_only_config.h"
#include "models/config/encoder_only_config.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/encoder_heads.h"
#include "models/stacks/transformer.h"
#include "search/test_seq2seq.h"
#include "test_folder.h"
#include "test_json_lines.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/tokenizers/language_tokenizer.h"
#include "tiny_model.h"

namespace heed {
namespace {

using testing::HasSubstr;
using testing::Not;
using Arguments = std::vector<std::string>;

/// Models of every kind, untrained.
class CliModelFilesTest : public ::testing::Test {
 protected:
  /// All weights are `value`, or random if it is 0.
  void write(const models::Model& model, float value) const {
    std::filesystem::remove(folder_.path("tokenizer.json"));  // of the previous model
    models::write_untrained(folder_.path(), model, 7, value);
  }
  void write_marian(float value = 0) const {
    write(models::Transformer(search::small_translator_config()), value);
    search::small_tokenizer().save(folder_.path());
  }
  void write_gpt2(float value = 0) const {
    models::DecoderOnlyConfig config;
    config.family = &models::gpt2_family();
    config.vocabulary = 256;
    config.width = 16;
    config.layers = 1;
    config.heads = 2;
    config.inner_width = 32;
    config.max_length = 48;
    write(models::DecoderOnly(config), value);
    byte_tokenizer().save(folder_.path());
  }
  void write_bert(const std::vector<std::string>& labels, float value) const {
    const std::vector<std::string> pieces{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "film"};
    wordpiece_tokenizer(pieces, {}).save(folder_.path());
    models::EncoderOnlyConfig config = models::bert_config(labels.empty() ? models::EncoderHead::kVocabulary
                                                                          : models::EncoderHead::kClassifier);
    config.vocabulary = static_cast<int64_t>(pieces.size());
    config.width = 16;
    config.layers = 1;
    config.heads = 2;
    config.inner_width = 24;
    config.max_length = 16;
    config.labels = labels;
    if (labels.empty()) return write(models::EncoderMaskedLm(config), value);
    write(models::EncoderClassifier(config), value);
  }

  CommandResult run(Arguments arguments, const Command::Settings& settings = {}) const {
    arguments.insert(arguments.begin() + 1, {"--model", folder_.path()});
    return heed_command(arguments, settings);
  }
  void expect_nan(const Arguments& arguments) const {
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.status, 1) << arguments[0] << ": " << result.out;
    EXPECT_THAT(result.err, HasSubstr("NaN or infinite")) << arguments[0];
    EXPECT_EQ(result.out, "") << arguments[0];
  }

  TestFolder folder_, texts_;
};

// The weights are finite, so the model opens.
TEST_F(CliModelFilesTest, EveryCommandFailsAtNan) {
  constexpr float kTooLarge = 3e38F;
  const std::string pairs = texts_.write("pairs.tsv", "The house.\tThe garden.\n");
  write_marian(kTooLarge);
  expect_nan({"translate", "The house."});
  expect_nan({"translate", "The house.", "--sample"});
  expect_nan({"translate", "The house.", "--precision", "int8"});
  expect_nan({"evaluate", "--pairs", pairs});
  expect_nan({"score", "--pairs", pairs});
  expect_nan({"align", "--pairs", pairs});
  expect_nan({"attend", "The house.", "--target", "The garden."});
  write_gpt2(kTooLarge);
  expect_nan({"generate", "Once", "--no-prompt", "--json"});
  expect_nan({"generate", "Once", "--greedy", "--json"});
  expect_nan({"score", "--input", pairs});
  expect_nan({"attend", "Once"});
  write_bert({"bad", "good"}, kTooLarge);
  expect_nan({"classify", "a film"});
  expect_nan({"attend", "a film"});
  write_bert({}, kTooLarge);
  expect_nan({"fill", "a [MASK]"});
}

TEST_F(CliModelFilesTest, VerifyFindsDamage) {
  write_marian();
  const CommandResult whole = run({"info", "--verify"});
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(whole.out, "model.safetensors  verified\n");
  const std::string path = folder_.path("model.safetensors");
  const std::string bytes = content_of(path);
  for (const size_t place : {size_t{9}, size_t{200}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    folder_.write("model.safetensors", damaged);
    const CommandResult found = run({"info", "--verify", "--json"});
    EXPECT_EQ(found.status, 1) << place;
    const nlohmann::json json = nlohmann::json::parse(found.out);
    EXPECT_EQ(json["damaged"], true);
    EXPECT_EQ(json["files"][0]["state"], "damaged") << place;
    EXPECT_EQ(run({"translate", "The house."}).status, 1) << place;
  }
  // Files of other toolkits have no hashes.
  folder_.write("model.safetensors", bytes);
  std::vector<std::pair<std::string, Tensor>> tensors;
  {
    const auto file = SafetensorsReader::open(path);
    for (const TensorInfo& info : file.infos()) tensors.emplace_back(info.name, file.read(info.name));
  }
  write_safetensors(path, tensors, {{"format", "pt"}});
  const CommandResult without = run({"info", "--verify"});
  EXPECT_EQ(without.status, 0);
  EXPECT_EQ(without.out, "model.safetensors  no hash stored\n");
}

TEST_F(CliModelFilesTest, InfoVerifiesFilesOfPyTorch) {
  folder_.write("config.json", "{}");
  folder_.write("training_args.bin", "no weights");
  const std::string numbers = array_bytes<float>({1, 2}),
                    pickle =
                        pickle_of("}(" + pickled_items({{"w", "FloatStorage", "0", 2, 0, {2}, {1}}}) + "u");
  const auto verify = [&](const std::string& bytes) {
    folder_.write("pytorch_model.bin", bytes);
    return run({"info", "--verify"});
  };
  std::string bytes = torch_zip(pickle, {{"0", numbers}});
  EXPECT_EQ(verify(bytes).out, "pytorch_model.bin  verified\n");
  bytes[bytes.find(numbers)] ^= 1;
  const CommandResult damaged = verify(bytes);
  EXPECT_EQ(damaged.status, 1);
  EXPECT_THAT(damaged.out, HasSubstr("'model/data/0' do not match their checksum"));
  EXPECT_EQ(verify(torch_zip(pickle, {{"0", numbers}}, false)).out, "pytorch_model.bin  no hash stored\n");
}

/// The weights of a directory in the layout of PyTorch, with other names of some as views of the same data.
std::string torch_weights(const std::string& directory,
                          const std::vector<std::pair<std::string, std::string>>& views) {
  const WeightFiles files = WeightFiles::open(directory);
  std::vector<PickledTensor> tensors;
  TorchStorages storages;
  const auto add = [&](const std::string& name, const std::string& key, const Tensor& tensor) {
    PickledTensor pickled{name, "FloatStorage", key, tensor.size()};
    int64_t stride = 1;
    for (int axis = tensor.rank(); axis-- > 0; stride *= tensor.dim(axis)) {
      pickled.sizes.insert(pickled.sizes.begin(), tensor.dim(axis));
      pickled.strides.insert(pickled.strides.begin(), stride);
    }
    tensors.push_back(pickled);
  };
  for (const std::string& name : files.names()) {
    const Tensor tensor = files.read(name);
    const std::string key = std::to_string(storages.size());
    storages.emplace_back(key, array_bytes(tensor.to_vector<float>()));
    add(name, key, tensor);
    for (const auto& [view, from] : views) {
      if (from == name) add(view, key, tensor);
    }
  }
  return torch_zip(pickle_of("}(" + pickled_items(tensors) + "u"), storages);
}

// PyTorch stores tied tensors once. As transformers' save_pretrained(), heed convert does too.
TEST_F(CliModelFilesTest, TiedTensorsAreConvertedOnce) {
  const std::vector<std::string> stacks{"model.decoder.embed_tokens.weight",
                                        "model.encoder.embed_tokens.weight"};
  for (const bool tied_output : {true, false}) {
    SCOPED_TRACE(tied_output);
    models::TransformerConfig config = search::small_translator_config();
    config.tied_output = tied_output;
    write(models::Transformer(config), 0);
    search::small_tokenizer().save(folder_.path());
    const std::string expected = run({"translate", "The house.", "--scores"}).out;
    const auto sizes = [&] {
      const auto info = nlohmann::json::parse(run({"info", "--json"}).out);
      return std::pair(info.at("parameters").get<int64_t>(), info.at("bytes").get<int64_t>());
    };
    const auto expected_sizes = sizes();
    const WeightFiles original = WeightFiles::open(folder_.path());
    std::vector<std::pair<std::string, std::string>> views;
    for (const std::string& name : stacks) views.emplace_back(name, "model.shared.weight");
    if (tied_output) views.emplace_back("lm_head.weight", "model.shared.weight");
    folder_.write("pytorch_model.bin", torch_weights(folder_.path(), views));
    std::filesystem::remove(folder_.path("model.safetensors"));
    EXPECT_EQ(sizes(), expected_sizes) << "heed info";
    const TestFolder out;
    const CommandResult converted =
        heed_command({"convert", folder_.path(), out.path("model"), "--to", "huggingface"});
    ASSERT_EQ(converted.status, 0) << converted.err;
    EXPECT_THAT(converted.err,
                HasSubstr(fmt::format("before: {:.1f} MB", static_cast<double>(original.bytes()) / 1e6)));
    std::vector<std::string> names = original.names();
    if (!tied_output) names.insert(names.end(), stacks.begin(), stacks.end());  // transformers needs them
    std::ranges::sort(names);
    EXPECT_EQ(WeightFiles::open(out.path("model")).names(), names);
    EXPECT_EQ(heed_command({"translate", "The house.", "--scores", "--model", out.path("model")}).out,
              expected);
    std::filesystem::remove(folder_.path("pytorch_model.bin"));
  }
}

TEST_F(CliModelFilesTest, InfoReportsANonzeroStartEmbedding) {
  write_marian();
  EXPECT_THAT(run({"info"}).out, Not(HasSubstr("start vector")));
  write_marian(0.25F);
  EXPECT_THAT(run({"info"}).out, HasSubstr("start vector  not zero (norm 1.00)"));
}

TEST_F(CliModelFilesTest, InfoFailsForAModelThatCannotBeOpened) {
  write_marian();
  EXPECT_EQ(run({"info"}).status, 0);
  std::filesystem::remove(folder_.path("source.spm"));
  const CommandResult text = run({"info"});
  EXPECT_EQ(text.status, 1);
  EXPECT_THAT(text.out, HasSubstr("marian"));
  EXPECT_THAT(text.out, HasSubstr("cannot open"));
  EXPECT_THAT(text.err, HasSubstr("source.spm"));
  const CommandResult json = run({"info", "--json"});
  EXPECT_EQ(json.status, 1);
  EXPECT_THAT(nlohmann::json::parse(json.out)["problem"].get<std::string>(), HasSubstr("source.spm"));
  write_gpt2();
  EXPECT_EQ(run({"info"}).status, 0);
  folder_.write("tokenizer.json", R"({"model": {"type": "Unknown"}})");
  const CommandResult tokenizer = run({"info"});
  EXPECT_EQ(tokenizer.status, 1);
  EXPECT_THAT(tokenizer.out, HasSubstr("gpt2"));
  EXPECT_THAT(tokenizer.err, HasSubstr("tokenizer.json"));
}

TEST_F(CliModelFilesTest, InfoSkipsMalformedMetrics) {
  write_marian();
  std::filesystem::create_directory(folder_.path("training"));
  const auto line = [](int step) {
    return R"({"step": )" + std::to_string(step) +
           R"(, "loss": 2.5, "learning_rate": 0.1, "target_tokens": 9, "target_tokens_per_second": 9, "seconds": 1})"
           "\n";
  };
  folder_.write("training/metrics.jsonl", line(1) + "{\"step\": 2, \"lo\n" + line(3));
  const CommandResult result = run({"info"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("metrics.jsonl', line 2"));
  EXPECT_THAT(result.out, HasSubstr("Loss"));
}

TEST_F(CliModelFilesTest, TheLimitsOfTheCommandLineHoldForFiles) {
  write_marian();
  folder_.write("generation_config.json", R"({"num_beams": 1024})");
  EXPECT_EQ(run({"translate", "The house.", "--max-length", "3"}).status, 0);
  folder_.write("generation_config.json", R"({"num_beams": 4096})");
  const CommandResult many = run({"translate", "The house."});
  EXPECT_EQ(many.status, 1);
  EXPECT_THAT(many.err, HasSubstr("'num_beams' is 4096, expected an integer from 1 to 1024"));
}

// A million positions must not need memory for sentences of ten tokens.
TEST_F(CliModelFilesTest, ManyPositionsNeedNoMemory) {
  write_marian();
  const CommandResult few = run({"translate", "The house.", "--max-length", "20"});
  nlohmann::json config = nlohmann::json::parse(content_of(folder_.path("config.json")));
  config["max_position_embeddings"] = 1 << 20;
  write_json(folder_.path("config.json"), config);
  const CommandResult many = run({"translate", "The house.", "--max-length", "20"});
  EXPECT_EQ(many.out, few.out);
  EXPECT_LT(many.cpu_seconds,
            5);  // computing 2^20 positions of this small width takes longer only with sanitizers
}

TEST_F(CliModelFilesTest, EveryEndTokenEndsAText) {
  write_gpt2();
  const auto greedy = [&] { return objects_of(run({"generate", "Once", "--greedy", "--json"}).out).at(0); };
  const nlohmann::json text = greedy();
  ASSERT_EQ(text["ending"], "positions");
  const auto third = text["ids"][2].get<int>();
  const bool repeated = text["ids"][0] == third || text["ids"][1] == third;
  folder_.write("generation_config.json",
                nlohmann::json{{"eos_token_id", {255, third}}, {"max_new_tokens", 20}}.dump());
  const nlohmann::json ended = greedy();
  EXPECT_EQ(ended["ending"], "end");
  EXPECT_TRUE(repeated || ended["ids"].size() == 3U) << ended;
  folder_.write("generation_config.json", R"({"max_new_tokens": 5, "suppress_tokens": [)" +
                                              std::to_string(text["ids"][0].get<int>()) + "]}");
  const nlohmann::json other = greedy();
  EXPECT_EQ(other["ids"].size(), 5U);
  EXPECT_NE(other["ids"][0], text["ids"][0]);
}

TEST_F(CliModelFilesTest, SamplingDefaultsOfTheModel) {
  write_gpt2();
  const auto text = [&](const Arguments& more = {}) {
    Arguments arguments{"generate", "Once", "--json", "--max-tokens", "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return objects_of(result.out).at(0)["ids"].get<std::vector<int>>();
  };
  const auto usual = text(), cold = text({"--temperature", "0.2"}), greedy = text({"--greedy"});
  EXPECT_NE(usual, cold);
  EXPECT_EQ(text({"--temperature", "0", "--seed", "5"}), greedy);
  folder_.write("generation_config.json", R"({"temperature": 0.2})");
  EXPECT_EQ(text(), cold);
  EXPECT_EQ(text({"--temperature", "1"}), usual);
  folder_.write("generation_config.json", R"({"do_sample": true, "top_k": 1})");
  EXPECT_EQ(text(), greedy);
  folder_.write("generation_config.json", R"({"do_sample": false})");
  EXPECT_EQ(text(), greedy);
  folder_.write("generation_config.json", R"({"do_sample": true, "temperature": 0})");
  EXPECT_EQ(text(), greedy);
  folder_.write("generation_config.json", R"({"typical_p": 0.3})");
  const CommandResult refused = run({"generate", "Once"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("'typical_p' is 0.3, expected 1.0 (the only value that Heed supports)"));
}

TEST_F(CliModelFilesTest, ErrorsNameTheOptionsOfTheCommand) {
  write_gpt2();
  const auto error_of = [&](const Arguments& arguments) {
    const CommandResult result = run(arguments);
    EXPECT_EQ(result.status, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(error_of({"generate", "x", "--temperature", "-1"}),
              HasSubstr("--temperature takes a number from 0 to 1000000, not '-1'"));
  EXPECT_THAT(error_of({"generate", "x", "--top-p", "2"}),
              HasSubstr("--top-p takes a number above 0 and up to 1, not '2'"));
  EXPECT_THAT(error_of({"generate", "x", "--beam", "2", "--samples", "3"}),
              HasSubstr("--samples is 3, which requires a --beam of at least as much, not 2"));
  EXPECT_THAT(error_of({"generate", "x", "--stop", ""}), HasSubstr("--stop: stop texts must not be empty"));
  EXPECT_THAT(error_of({"score", "--input", texts_.write("text", "abcdef\n"), "--stride", "99"}),
              HasSubstr("--stride is 99"));
  write_marian();
  EXPECT_THAT(error_of({"translate", "The house.", "--beam", "2", "--nbest", "3"}),
              HasSubstr("--nbest is 3, which requires a --beam of at least as much, not 2"));
  EXPECT_THAT(
      error_of({"translate", "Hund", "--sample", "--temperature", "0", "--nbest", "2"}),
      HasSubstr("--nbest is 2, which requires a --beam of at least as much, not 1, or a --temperature "
                "above 0"));
}

TEST_F(CliModelFilesTest, TranslationModelsAreNamed) {
  write_marian();
  folder_.write("config.json", R"({"model_type": "pegasus", "vocab_size": 9})");
  EXPECT_THAT(
      run({"translate", "The house."}).err,
      HasSubstr("not a translation model (marian, heed_transformer, t5, m2m_100, bart, mbart, heed_rnn)"));
}

// A dangling link is an error, unlike a missing file.
TEST_F(CliModelFilesTest, DanglingLinksAreErrors) {
  write_marian();
  EXPECT_EQ(run({"translate", "The house."}).status, 0);
  for (const char* name : {"generation_config.json", "shortlist.safetensors"}) {
    std::filesystem::create_symlink("nowhere", folder_.path(name));
    const CommandResult result = run({"translate", "The house.", "--precision", "int8"});
    EXPECT_EQ(result.status, 1) << name;
    EXPECT_THAT(result.err, HasSubstr(name));
    std::filesystem::remove(folder_.path(name));
  }
}

// Settings of a model's directory also apply to scoring of given translations.
TEST(CliScore, AgreesWithTranslate) {
  const TestFolder folder;
  std::filesystem::copy(tiny_model(), folder.path(), std::filesystem::copy_options::recursive);
  nlohmann::json settings = nlohmann::json::parse(content_of(folder.path("generation_config.json")));
  settings["renormalize_logits"] = false;
  settings["repetition_penalty"] = 1.3;
  write_json(folder.path("generation_config.json"), settings);
  std::string sources, pairs;
  for (const SentencePair& pair : tiny_pairs(12, 5)) sources += pair.source + "\n";
  const auto run = [](const Arguments& arguments) {
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return objects_of(result.out);
  };
  const auto found =
      run({"translate", "--model", folder.path(), "--json", "--input", folder.write("sources", sources)});
  for (const auto& each : found) {
    pairs += each["source"].get<std::string>() + "\t" + each["translation"].get<std::string>() + "\n";
  }
  const std::string file = folder.write("pairs.tsv", pairs);
  const auto scored = run({"score", "--model", folder.path(), "--json", "--quiet", "--pairs", file});
  const auto others = run({"score", "--model", tiny_model(), "--json", "--quiet", "--pairs", file});
  ASSERT_EQ(scored.size(), found.size());
  size_t same = 0;
  double largest = 0;
  for (size_t n = 0; n < scored.size(); ++n) {
    if (scored[n]["pieces"] != found[n]["pieces"]) continue;
    ++same;
    const double expected = found[n]["log_probability"];
    EXPECT_NEAR(scored[n]["log_probability"].get<double>(), expected, 1e-4) << n;
    largest = std::max(largest, std::abs(others[n]["log_probability"].get<double>() - expected));
  }
  EXPECT_GE(same, 6U);
  EXPECT_GT(largest, 1e-3) << "the settings changed nothing";
}

}  // namespace
}  // namespace heed
