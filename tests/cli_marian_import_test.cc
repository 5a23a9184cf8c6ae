// heed convert --from marian: a model written as Marian writes it gives the original model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/text/json_file.h"
#include "command.h"
#include "compare.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/transformer.h"
#include "npz_writer.h"
#include "search/test_seq2seq.h"
#include "test_folder.h"

namespace heed {
namespace {

using testing::HasSubstr;

/// The name of a parameter in Marian.
std::string marian_name(std::string name) {
  static const std::vector<std::pair<std::string, std::string>> parts{
      {"model.shared.weight", "Wemb"},
      {"model.encoder.embed_tokens.weight", "encoder_Wemb"},
      {"model.decoder.embed_tokens.weight", "decoder_Wemb"},
      {"lm_head.weight", "decoder_ff_logit_out_W"},
      {"final_logits_bias", "decoder_ff_logit_out_b"},
      {"model.encoder.layer_norm.weight", "encoder_top_ln_scale"},
      {"model.encoder.layer_norm.bias", "encoder_top_ln_bias"},
      {"model.decoder.layer_norm.weight", "decoder_top_ln_scale"},
      {"model.decoder.layer_norm.bias", "decoder_top_ln_bias"},
      {"self_attn_layer_norm.weight", "self_Wo_ln_scale"},
      {"self_attn_layer_norm.bias", "self_Wo_ln_bias"},
      {"encoder_attn_layer_norm.weight", "context_Wo_ln_scale"},
      {"encoder_attn_layer_norm.bias", "context_Wo_ln_bias"},
      {"final_layer_norm.weight", "ffn_ffn_ln_scale"},
      {"final_layer_norm.bias", "ffn_ffn_ln_bias"},
      {"self_attn.", "self_"},
      {"encoder_attn.", "context_"},
      {"q_proj.weight", "Wq"},
      {"k_proj.weight", "Wk"},
      {"v_proj.weight", "Wv"},
      {"out_proj.weight", "Wo"},
      {"q_proj.bias", "bq"},
      {"k_proj.bias", "bk"},
      {"v_proj.bias", "bv"},
      {"out_proj.bias", "bo"},
      {"fc1.weight", "ffn_W1"},
      {"fc1.bias", "ffn_b1"},
      {"fc2.weight", "ffn_W2"},
      {"fc2.bias", "ffn_b2"},
      {"model.encoder.layers.0.", "encoder_l1_"},
      {"model.decoder.layers.0.", "decoder_l1_"},
  };
  for (const auto& [from, to] : parts) {
    if (const size_t at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  }
  return name;
}

Tensor transposed(const Tensor& matrix) {
  std::vector<float> values;
  for (int64_t column = 0; column < matrix.dim(1); ++column) {
    for (int64_t row = 0; row < matrix.dim(0); ++row)
      values.push_back(matrix.data<float>()[row * matrix.dim(1) + column]);
  }
  return Tensor::from(values, {matrix.dim(1), matrix.dim(0)});
}

using Options = std::map<std::string, std::string>;

/// A model in Hugging Face's layout, and the same as Marian stores it.
class CliMarianImportTest : public testing::Test {
 protected:
  CliMarianImportTest() : config_(search::small_translator_config()) {
    config_.activation = Activation::kRelu;
    config_.frequencies = nn::SinusoidFrequencies::kByHalves;
    config_.norm_epsilon = 1e-6;
  }

  void write_original() const {
    const models::Transformer model(config_);
    nn::ParameterArray values(model.table(), DType::kFloat32);
    nn::initialize(model.table(), values, RandomKey::from_seed(5));
    for (int row = 0; row < model.table().size(); ++row) {  // the padding token, which Marian lacks, is zero
      if (model.table()[row].shape[0] != config_.vocabulary) continue;
      Tensor rows = values.view(model.table(), {row, 1});
      const int64_t width = rows.size() / rows.dim(0);
      std::fill_n(rows.data<float>() + rows.size() - width, width, 0.0F);
    }
    write_json(original_.path("config.json"), model.config_json());
    models::write_weights(original_.path(), model.table(), values, DType::kFloat32);
    search::small_tokenizer().save(original_.path());
  }
  Options options() const {
    return {{"type", "transformer"},
            {"dim-emb", std::to_string(config_.width)},
            {"enc-depth", "1"},
            {"dec-depth", "1"},
            {"transformer-heads", std::to_string(config_.encoder_heads)},
            {"transformer-ffn-activation", "relu"},
            {"transformer-decoder-autoreg", "self-attention"},
            {"transformer-preprocess", config_.norm_first ? "n" : "\"\""},
            {"transformer-postprocess", config_.norm_first ? "da" : "dan"},
            {"transformer-postprocess-emb", "d"},
            {"transformer-postprocess-top", config_.norm_first ? "n" : "\"\""},
            {"transformer-tied-layers", "\n  []"},
            {"layer-normalization", "false"},
            {"version", "v1.12.42"}};
  }
  void write_marian(const Options& options) const {
    const models::LoadedModel loaded = models::load_model(original_.path());
    const nn::ParameterTable& table = loaded.model->table();
    ZipWriter zip;
    for (int row = 0; row < table.size(); ++row) {
      const std::string name = marian_name(table[row].name);
      Tensor value = loaded.values.view(table, {row, 1});
      const bool has_padding =
          name.find("Wemb") != std::string::npos || name.find("logit") != std::string::npos;
      if (has_padding) value = value.narrow(0, 0, value.dim(0) - 1).clone();
      if (value.rank() == 2 && name.find("Wemb") == std::string::npos) value = transposed(value);
      if (value.rank() == 1) value = value.reshape({1, value.size()});
      zip.add(name + ".npy", npy(value));
    }
    std::string yaml;
    for (const auto& [key, value] : options) yaml += fmt::format("{}: {}\n", key, value);
    yaml.push_back('\0');
    zip.add("special:model.yml.npy", npy("<i1", {static_cast<int64_t>(yaml.size())}, yaml));
    marian_.write("model.npz", zip.finish());
    std::string vocabulary;
    const Vocabulary& pieces = search::small_tokenizer().vocabulary();
    for (size_t id = 0; id + 1 < pieces.size(); ++id) {
      std::string quoted;
      for (const char c : pieces.piece(static_cast<int32_t>(id))) {
        if (c == '"' || c == '\\') quoted.push_back('\\');
        quoted.push_back(c);
      }
      vocabulary += fmt::format("\"{}\": {}\n", quoted, id);
    }
    marian_.write("opus.vocab.yml", vocabulary);
    marian_.write("decoder.yml",
                  "models:\n  - /somewhere/model.npz\nvocabs:\n  - opus.vocab.yml\n  - opus.vocab.yml\n"
                  "beam-size: 3\n");
    for (const char* name : {"source.spm", "target.spm"})
      marian_.write(name, read_file(original_.path(name)));
  }
  void expect_refusal(const std::string& message) const {
    expect_failure(heed_command({"convert", marian_.path(), out_.path("refused")}), 1, {message});
    EXPECT_FALSE(std::filesystem::exists(out_.path("refused")));
  }
  void expect_original(const std::string& converted) const {
    const models::LoadedModel loaded = models::load_model(converted);
    const models::LoadedModel original = models::load_model(original_.path());
    const nn::ParameterTable& table = original.model->table();
    ASSERT_EQ(loaded.model->table().size(), table.size());
    for (int row = 0; row < table.size(); ++row) {
      ASSERT_EQ(loaded.model->table()[row].name, table[row].name);
      expect_equal(loaded.values.view(table, {row, 1}), original.values.view(table, {row, 1}),
                   table[row].name);
    }
    const std::vector<std::string> texts{"translate",    "The house.", "--beam", "3",
                                         "--max-length", "20",         "--model"};
    const auto run = [&](const std::string& model) {
      std::vector<std::string> arguments = texts;
      arguments.push_back(model);
      const CommandResult result = heed_command(arguments);
      EXPECT_EQ(result.status, 0) << result.err;
      return result.out;
    };
    EXPECT_EQ(run(converted), run(original_.path()));
  }

  models::TransformerConfig config_;
  TestFolder original_, marian_, out_;
};

TEST_F(CliMarianImportTest, GivesTheOriginalModel) {
  for (const bool norm_first : {false, true}) {
    config_.norm_first = norm_first;
    write_original();
    write_marian(options());
    for (const std::string& input : {marian_.path(), marian_.path("model.npz")}) {
      const std::string converted = out_.path(fmt::format("{}{}", norm_first, input == marian_.path()));
      const CommandResult result = heed_command({"convert", input, converted, "--from", "marian"});
      ASSERT_EQ(result.status, 0) << result.err;
      expect_original(converted);
      EXPECT_THAT(read_file(converted + "/generation_config.json"), HasSubstr("\"num_beams\": 3"));
      EXPECT_EQ(WeightFiles::open(converted).info("final_logits_bias").shape, (Shape{1, config_.vocabulary}))
          << "as transformers wants it";
    }
    const CommandResult recognized =
        heed_command({"convert", marian_.path(), out_.path("half") + std::to_string(norm_first), "--weights",
                      "float16", "--to", "huggingface"});
    EXPECT_EQ(recognized.status, 2);
    EXPECT_THAT(recognized.err,
                HasSubstr("positions with other frequencies (position_frequencies: by_halves)"));
  }
}

TEST_F(CliMarianImportTest, UntiedOutputAndSeparateEmbeddings) {
  config_.share_embeddings = false;
  config_.tied_output = false;
  config_.source_vocabulary = config_.vocabulary;
  write_original();
  write_marian(options());
  const std::string converted = out_.path("converted");
  const CommandResult result = heed_command({"convert", marian_.path(), converted});
  ASSERT_EQ(result.status, 0) << result.err;
  expect_original(converted);
}

TEST_F(CliMarianImportTest, VocabulariesAreThoseOfTheModel) {
  const auto convert = [&](const std::string& name) {
    return heed_command({"convert", marian_.path(), out_.path(name)});
  };
  write_original();
  write_marian(options());
  marian_.write("decoder.yml", "vocabs:\n  - opus.vocab.yml\n  - /somewhere/opus.trg.vocab.yml\n");
  expect_refusal("it lacks 'opus.trg.vocab.yml', a vocabulary that decoder.yml names");
  std::filesystem::remove(marian_.path("decoder.yml"));
  EXPECT_EQ(convert("shared").status, 0);
  const std::string vocabulary = content_of(marian_.path("opus.vocab.yml"));
  marian_.write("more.vocab.yml", vocabulary);
  expect_refusal("which of 'more.vocab.yml' and 'opus.vocab.yml' is the vocabulary of the source is unknown");
  std::filesystem::remove(marian_.path("more.vocab.yml"));

  config_.share_embeddings = config_.tied_output = false;
  config_.source_vocabulary = config_.vocabulary;
  write_original();
  write_marian(options());
  std::filesystem::remove(marian_.path("decoder.yml"));
  expect_refusal("opus.vocab.yml', and embeddings for two");
  marian_.write("decoder.yml", "vocabs:\n  - opus.vocab.yml\n");
  EXPECT_EQ(convert("named").status, 0);
  std::filesystem::remove(marian_.path("decoder.yml"));
  std::filesystem::rename(marian_.path("opus.vocab.yml"), marian_.path("z.src.vocab.yml"));
  marian_.write("a.trg.vocab.yml", vocabulary);
  EXPECT_EQ(convert("two").status, 0);
  marian_.write("a.trg.vocab.yml", "<unk>: 0\n");
  expect_refusal("a.trg.vocab.yml' has no '</s>'");
}

// The models and scores are Marian's own (tests/data/README.md).
TEST(CliMarianImport, ComputesAsMarian) {
  for (const std::string kind : {"post-norm", "pre-norm"}) {
    const std::string original = source_folder() + "/tests/data/marian/" + kind;
    const TestFolder out;
    const std::string converted = out.path("converted"), ctranslate2 = out.path("ctranslate2");
    ASSERT_EQ(heed_command({"convert", original, converted}).status, 0);
    std::string pairs;
    std::vector<double> expected;
    for (const std::string& line : lines_of(read_file(original + "/scores.tsv"))) {
      const size_t tab = line.find('\t');
      expected.push_back(std::stod(line.substr(0, tab)));
      pairs.append(line, tab + 1).push_back('\n');
    }
    out.write("pairs.tsv", pairs);
    std::vector<std::string> models{converted};
    if (kind == "post-norm") {
      ASSERT_EQ(heed_command({"convert", converted, ctranslate2, "--to", "ctranslate2"}).status, 0);
      models.push_back(ctranslate2);
    }
    for (const std::string& model : models) {
      const CommandResult result =
          heed_command({"score", "--model", model, "--pairs", out.path("pairs.tsv")});
      ASSERT_EQ(result.status, 0) << result.err;
      const std::vector<std::string> scores = lines_of(result.out);
      ASSERT_EQ(scores.size(), expected.size());
      for (size_t n = 0; n < scores.size(); ++n) EXPECT_NEAR(std::stod(scores[n]), expected[n], 1e-3) << n;
    }
  }
}

TEST_F(CliMarianImportTest, RefusesWhatIsNotSupported) {
  write_original();
  for (const auto& [key, value] : Options{{"type", "s2s"},
                                          {"transformer-decoder-autoreg", "rnn"},
                                          {"transformer-ffn-activation", "gelu"},
                                          {"transformer-postprocess", "da"},
                                          {"transformer-postprocess-emb", "n"},
                                          {"transformer-disable-position-embeddings", "true"},
                                          {"transformer-attention-mask", "alibi"},
                                          {"transformer-no-bias", "true"},
                                          {"right-left", "true"}}) {
    Options changed = options();
    changed[key] = value;
    write_marian(changed);
    expect_refusal("'" + key + "' is '" + value + "'");
  }
  Options unknown = options();
  unknown["transformer-soft-cap"] = "30";
  write_marian(unknown);
  expect_refusal("the option 'transformer-soft-cap' is unknown");
  Options deeper = options();
  deeper["enc-depth"] = "2";
  write_marian(deeper);
  expect_refusal("'encoder_l2_self_Wq' is missing");
  write_marian(options());
  marian_.write("opus.vocab.yml", "</s>: 0\n<unk>: 1\n");
  expect_refusal("its vocabulary has 2 pieces");
  std::filesystem::remove(marian_.path("source.spm"));
  expect_refusal("it lacks source.spm");
  expect_failure(heed_command({"translate", "The house.", "--model", marian_.path()}), 1, {"heed convert"});
  expect_failure(heed_command({"convert", marian_.path(), out_.path("c"), "--to", "ctranslate2"}), 2,
                 {"convert it for Heed first"});
}

}  // namespace
}  // namespace heed
