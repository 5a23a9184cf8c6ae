// Search and scores against CTranslate2 with the same weights, in float32 and int8.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/ctranslate2_file.h"
#include "models/directory/loaded_model.h"
#include "models/formats/ctranslate2_export.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "reference.h"
#include "search/scoring.h"
#include "search/search.h"
#include "test_folder.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed {
namespace {

/// The case and its model, loaded by Heed.
struct Ct2Case {
  Ct2Case()
      : reference("ct2"),
        max_length(reference.json().at("max_decoding_length")),
        directory((fixtures_folder() / "marian" / "model").string()),
        vocabulary(nlohmann::json::parse(std::ifstream(directory + "/vocab.json"))) {}

  static bool exists() { return !fixture_cases("ct2").empty(); }
  models::LoadedModel load(const std::string& precision) const {
    return models::load_model(directory, {.precision = precision == "int8" ? models::Precision::kInt8
                                                                           : models::Precision::kFloat32});
  }
  /// Rows of a precision, except empty sources, for which CTranslate2 does not run the model.
  std::vector<nlohmann::json> rows(const std::string& precision) const {
    std::vector<nlohmann::json> found;
    for (const auto& row : reference.json().at("rows")) {
      if (row.at("precision") == precision && row.at("source").size() > 1) found.push_back(row);
    }
    return found;
  }
  std::vector<int32_t> source_of(const nlohmann::json& row) const {
    std::vector<int32_t> ids;
    for (const std::string token : row.at("source")) ids.push_back(vocabulary.at(token));
    return ids;
  }

  ReferenceCase reference;
  size_t max_length;  ///< ids of a translation, the end not counted
  std::string directory;
  nlohmann::json vocabulary;
};

TEST(CTranslate2Reference, SameTokensInGreedySearch) {
  if (!Ct2Case::exists()) GTEST_SKIP() << missing_fixtures();
  const Ct2Case ct2;
  const models::LoadedModel model = ct2.load("float32");
  const nn::Context context = model.context();
  search::SearchOptions options = search::search_options_of(model);
  options.beam_size = 1;
  options.max_length_factor = 0;
  options.max_new = static_cast<int64_t>(ct2.max_length) + 1;
  const search::Search search(model.seq2seq(), context, options, {});
  std::vector<search::SearchSentence> sentences;
  const auto rows = ct2.rows("float32");
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) sentences.push_back({sentences.size(), ct2.source_of(row), {}});
  const auto found = search.run(sentences);
  for (size_t n = 0; n < rows.size(); ++n) {
    const std::vector<int32_t> expected = rows[n].at("greedy").at(0).at("ids");
    std::vector<int32_t> ids = found[n].front().ids;
    ids.pop_back();  // the end token, forced or not
    EXPECT_EQ(ids, expected) << rows[n].at("text");
  }
}

/// Translations of CTranslate2, from any of its searches, have the same score in Heed: the sum of
/// log-probabilities / length^penalty. The int8 tolerance of the case applies to means; for sums it is
/// multiplied by the length.
void expect_same_scores(const std::string& precision) {
  if (!Ct2Case::exists()) GTEST_SKIP() << missing_fixtures();
  const Ct2Case ct2;
  const models::LoadedModel model = ct2.load(precision);
  const nn::Context context = model.context();
  const search::SearchOptions options = search::search_options_of(model);
  const std::map<std::string, double> penalties = ct2.reference.json().at("length_penalties");
  const double tolerance = precision == "int8" ? 0.05 : 2e-4;  // tolerance of the case
  const auto rows = ct2.rows(precision);
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    for (const auto& [kind, penalty] : penalties) {
      for (const auto& hypothesis : row.at(kind)) {
        std::vector<int32_t> target = hypothesis.at("ids");
        if (target.size() < ct2.max_length) target.push_back(model.seq2seq().end_id());
        const std::vector<search::ScoringPair> pair{{ct2.source_of(row), target}};
        const auto scores = search::score_pairs(model.seq2seq(), context, options, pair);
        const double sum = std::accumulate(scores[0].begin(), scores[0].end(), 0.0);
        const auto words = static_cast<double>(target.size());
        EXPECT_NEAR(sum / std::pow(words, penalty), hypothesis.at("score").get<double>(),
                    tolerance * std::pow(words, 1 - penalty))
            << kind << " of " << row.at("text");
      }
    }
  }
}

/// The logits of a sentence, without those of the padding token, which CTranslate2 has not.
std::vector<float> logits_of(const std::string& directory) {
  const models::LoadedModel model = models::load_model(directory);
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(directory);
  Sequences source, input;
  source.append(tokenizer.encode_source("Der Hund ist im Garten.").ids);
  std::vector<int32_t> target = tokenizer.encode_target("The dog is in the garden.").ids;
  target.back() = model.seq2seq().start_id();
  std::rotate(target.begin(), target.end() - 1, target.end());
  input.append(target);
  nn::Context context = model.context();
  Tensor logits = model.seq2seq().logits(context, source, input);
  for (int64_t row = 0; row < logits.dim(0); ++row) {
    logits.data<float>()[row * logits.dim(1) + model.seq2seq().padding_id()] = 0;
  }
  return logits.to_vector<float>();
}

// Directories of CTranslate2 open as they are, given the tokenizer of the original model.
TEST(CTranslate2Reference, DirectoriesOpen) {
  if (!Ct2Case::exists()) GTEST_SKIP() << missing_fixtures();
  const Ct2Case ct2;
  const std::vector<float> expected = logits_of(ct2.directory);
  size_t opened = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ct2.reference.folder())) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    const TestFolder folder;
    const std::filesystem::path copy = folder.path("model");
    copy_folder(entry.path(), copy);
    expect_error(ErrorKind::kNotFound, "copy source.spm and target.spm of the original model",
                 [&] { TranslationTokenizer::load(copy.string()); });
    for (const char* file : {"source.spm", "target.spm"})
      std::filesystem::copy(ct2.directory + "/" + file, copy);
    const std::vector<float> logits = logits_of(copy.string());
    ASSERT_EQ(logits.size(), expected.size());
    // int8: errors of 1/254 of the largest weight of each row.
    const double tolerance = entry.path().filename() == "float32" ? 0 : 0.5;
    for (size_t n = 0; n < logits.size(); ++n) ASSERT_NEAR(logits[n], expected[n], tolerance) << n;
    ++opened;
  }
  EXPECT_GT(opened, 1U);
}

/// The variables of a converted model are those that CTranslate2's own converter writes.
void expect_same_variables(const Ct2Case& ct2, const std::string& kind, models::Ctranslate2Type type) {
  const TestFolder folder;
  write_ctranslate2(folder.path("model.bin"), models::ctranslate2_variables(ct2.load("float32"), type));
  const Ctranslate2File ours = Ctranslate2File::open(folder.path("model.bin")),
                        theirs =
                            Ctranslate2File::open((ct2.reference.folder() / kind / "model.bin").string());
  EXPECT_EQ(ours.specification(), theirs.specification());
  EXPECT_EQ(ours.revision(), theirs.revision());
  EXPECT_EQ(ours.infos().size(), theirs.infos().size());
  for (const TensorInfo& info : theirs.infos()) {
    SCOPED_TRACE(info.name);
    ASSERT_TRUE(ours.has(info.name));
    EXPECT_EQ(ours.info(info.name).type, info.type);
    EXPECT_EQ(ours.variable(info.name), theirs.variable(info.name));
    if (info.shape.size() == 1) {
      EXPECT_EQ(ours.number(info.name), theirs.number(info.name));
    } else {
      expect_close(ours.read(info.name), theirs.read(info.name), 1e-7, info.name);
    }
  }
}

TEST(CTranslate2Reference, ConvertsAsItsConverter) {
  if (!Ct2Case::exists()) GTEST_SKIP() << missing_fixtures();
  const Ct2Case ct2;
  for (const auto& [name, type] :
       {std::pair{"float32", models::Ctranslate2Type::kFloat32}, {"int8", models::Ctranslate2Type::kInt8}}) {
    SCOPED_TRACE(name);
    expect_same_variables(ct2, name, type);
  }
}

/// Without other toolkits' files: what was quantized is within half a step of the weights.
TEST(CTranslate2Reference, QuantizedVariablesAreReadAsTheyAreWritten) {
  const TestFolder folder;
  models::TransformerConfig config;
  config.vocabulary = 9;
  config.width = 8;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 8;
  config.padding_id = config.start_id = 8;
  models::write_untrained(folder.path(), models::Transformer(config), 3);
  const models::LoadedModel model = models::load_model(folder.path());
  const auto write = [&](models::Ctranslate2Type type) {
    const std::string path = folder.path("model.bin");
    write_ctranslate2(path, models::ctranslate2_variables(model, type));
    return Ctranslate2File::open(path);
  };
  const Ctranslate2File floats = write(models::Ctranslate2Type::kFloat32);
  for (const auto& [type, name, steps] : {std::tuple{models::Ctranslate2Type::kInt8, "I8", 127.0},
                                          {models::Ctranslate2Type::kInt16, "I16", 1024.0}}) {
    const Ctranslate2File integers = write(type);
    for (const char* variable : {"decoder/embeddings/weight", "encoder/embeddings_0/weight",
                                 "decoder/projection/weight", "encoder/layer_0/ffn/linear_0/weight"}) {
      EXPECT_EQ(integers.info(variable).type, name);
      const Tensor expected = floats.read(variable), actual = integers.read(variable);
      double largest = 0;
      for (const double value : expected.to_vector<double>()) largest = std::max(largest, std::abs(value));
      expect_close(actual, expected, 0.501 * largest / steps, variable);
    }
    EXPECT_EQ(integers.info("encoder/layer_0/ffn/linear_0/bias").type, "F32");
    EXPECT_EQ(integers.info("decoder/layer_0/ffn/layer_norm/gamma").type, "F32");
  }
}

TEST(CTranslate2Reference, SameScoresInFloat32) {
  expect_same_scores("float32");
}

TEST(CTranslate2Reference, SameScoresInInt8) {
  expect_same_scores("int8");
}

}  // namespace
}  // namespace heed
