// Search and scores against CTranslate2 with the same weights, in float32 and int8.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "decode/scoring.h"
#include "decode/search.h"
#include "models/model_directory.h"
#include "reference.h"

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
  decode::SearchOptions options = decode::search_options_of(model);
  options.beam_size = 1;
  options.max_length_factor = 0;
  options.max_new = static_cast<int64_t>(ct2.max_length) + 1;
  const decode::Search search(model.seq2seq(), context, options, {});
  std::vector<decode::SearchSentence> sentences;
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
  const decode::SearchOptions options = decode::search_options_of(model);
  const std::map<std::string, double> penalties = ct2.reference.json().at("length_penalties");
  const double tolerance = precision == "int8" ? 0.05 : 2e-4;  // tolerance of the case
  const auto rows = ct2.rows(precision);
  ASSERT_FALSE(rows.empty());
  for (const auto& row : rows) {
    for (const auto& [kind, penalty] : penalties) {
      for (const auto& hypothesis : row.at(kind)) {
        std::vector<int32_t> target = hypothesis.at("ids");
        if (target.size() < ct2.max_length) target.push_back(model.seq2seq().end_id());
        const std::vector<decode::ScoringPair> pair{{ct2.source_of(row), target}};
        const auto scores = decode::score_pairs(model.seq2seq(), context, options, pair);
        const double sum = std::accumulate(scores[0].begin(), scores[0].end(), 0.0);
        const auto words = static_cast<double>(target.size());
        EXPECT_NEAR(sum / std::pow(words, penalty), hypothesis.at("score").get<double>(),
                    tolerance * std::pow(words, 1 - penalty))
            << kind << " of " << row.at("text");
      }
    }
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
