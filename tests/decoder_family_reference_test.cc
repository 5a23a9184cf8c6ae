// Decoder-only families against Hugging Face's classes: logits, attention weights, perplexity, generated
// text, configs of older versions, and directories that are written again.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/directory/model_weights.h"
#include "models/stacks/decoder_only.h"
#include "reference.h"
#include "search/search.h"
#include "test_folder.h"

namespace heed {
namespace {

/// One family's case.
struct DecoderFamily {
  explicit DecoderFamily(const std::string& name)
      : reference(name, "", families_folder()),
        directory((reference.folder() / "model").string()),
        loaded(models::load_model(directory)),
        text(sequences_of(reference.tensor("input.ids"), -1)) {}

  double tolerance(const std::string& tensor) const { return reference.tolerance(tensor, "float32"); }
  Tensor logits(const models::LoadedModel& model) const {
    nn::Context context = model.context();
    return model.language_model().logits(context, text);  // (T, V)
  }

  ReferenceCase reference;
  std::string directory;
  models::LoadedModel loaded;
  Sequences text;
};

/// test(family) for each case.
template <typename Test>
void for_each_decoder_family(const Test& test) {
  for_each_model_case<DecoderFamily>("decoder_families", test);
}

/// (1, rows, V) as (rows, V).
Tensor without_batch(const Tensor& tensor) {
  return tensor.reshape({tensor.dim(1), tensor.dim(2)});
}

TEST(DecoderFamilies, Logits) {
  for_each_decoder_family([](const DecoderFamily& family) {
    const Tensor first = without_batch(family.reference.tensor("expected.logits"));
    const Tensor last = family.reference.tensor("expected.last_logits");
    const Tensor logits = family.logits(family.loaded);
    expect_close(logits.narrow(0, 0, first.dim(0)).clone(), first, family.tolerance("expected.logits"),
                 "first positions");
    expect_close(logits.narrow(0, logits.dim(0) - 1, 1).clone(), last,
                 family.tolerance("expected.last_logits"), "last position");
  });
}

TEST(DecoderFamilies, AttentionWeights) {
  for_each_decoder_family([](const DecoderFamily& family) {
    KeepAll sink;
    nn::Context context = family.loaded.context();
    context.sink = &sink;
    family.loaded.language_model().logits(context, family.text);
    const Tensor last = family.reference.tensor("expected.last_attention");  // (layers, H, T)
    const std::string prefix = "expected.attention.";
    for (const std::string& name : family.reference.tensor_names(prefix)) {
      const int layer = std::stoi(name.substr(prefix.size()));
      const auto found = sink.all.find({Stack::kDecoder, layer});
      ASSERT_NE(found, sink.all.end()) << name;
      const Tensor expected = family.reference.tensor(name);  // (1, H, rows, rows)
      const int64_t heads = expected.dim(1), rows = expected.dim(2), length = last.dim(2);
      ASSERT_EQ(found->second.heads, heads);
      const Tensor weights = found->second.flat.reshape({heads, length, length});
      expect_close(weights.narrow(1, 0, rows).narrow(2, 0, rows).clone(),
                   expected.reshape({heads, rows, rows}), family.tolerance(name), name);
      expect_close(weights.narrow(1, length - 1, 1).clone().reshape({heads, length}),
                   last.narrow(0, layer, 1).clone().reshape({heads, length}),
                   family.tolerance("expected.last_attention"), name + ", last position");
    }
  });
}

TEST(DecoderFamilies, NegativeLogLikelihoods) {
  for_each_decoder_family([](const DecoderFamily& family) {
    const std::vector<int32_t>& ids = family.text.ids;
    Sequences input;
    input.append(std::span(ids).first(ids.size() - 1));
    const std::vector<int32_t> labels(ids.begin() + 1, ids.end());
    nn::Context context = family.loaded.context();
    const auto loss = family.loaded.language_model().loss(context, input, labels, {});
    double sum = 0;
    for (const double each : family.reference.tensor("expected.nll").to_vector<double>()) sum += each;
    EXPECT_NEAR(loss.negative_log_likelihood, sum,
                family.tolerance("expected.nll") * static_cast<double>(labels.size()));
  });
}

std::vector<search::Hypothesis> continuations(const models::LoadedModel& model, const nlohmann::json& row,
                                              int beams) {
  search::SearchOptions options = search::continuation_options();
  options.beam_size = options.nbest = beams;
  options.end_ids = model.generation.end_ids;
  options.renormalize = model.generation.renormalize;
  options.max_new = static_cast<int64_t>(row.at("greedy").size());
  const search::Search search(model.language_model(), model.context(), options);
  return search.run({{0, ids_of(row.at("prompt_ids"))}})[0];
}

TEST(DecoderFamilies, GreedyAndBeamSearch) {
  for_each_decoder_family([](const DecoderFamily& family) {
    const nlohmann::json& ends = family.reference.hyperparameters().at("end_ids");
    EXPECT_EQ(family.loaded.generation.end_ids, ids_of(ends));
    int compared = 0;
    for (const auto& row : family.reference.json()["generation"]["rows"]) {
      if (row.at("greedy_sturdy").get<bool>()) {
        EXPECT_EQ(continuations(family.loaded, row, 1)[0].ids, ids_of(row.at("greedy")));
        ++compared;
      }
      if (!row.at("beam_sturdy").get<bool>()) continue;
      const auto& expected = row.at("beam");
      const auto found = continuations(family.loaded, row, static_cast<int>(expected.size()));
      ASSERT_EQ(found.size(), expected.size());
      for (size_t rank = 0; rank < expected.size(); ++rank) {
        EXPECT_EQ(found[rank].ids, ids_of(expected[rank].at("ids"))) << "rank " << rank;
        EXPECT_NEAR(found[rank].score, expected[rank].at("score").get<double>(), 1e-4);
      }
      ++compared;
    }
    EXPECT_GT(compared, 0);
  });
}

/// The directory of a case with another config.json.
void copy_with_config(const std::string& from, const std::string& config, const TestFolder& to) {
  copy_folder(from, to.path());
  std::filesystem::copy_file(config, to.path("config.json"),
                             std::filesystem::copy_options::overwrite_existing);
}

TEST(DecoderFamilies, OlderConfigsAreTheSameModels) {
  for_each_decoder_family([](const DecoderFamily& family) {
    const TestFolder folder;
    copy_with_config(family.directory, (family.reference.folder() / "older_config.json").string(), folder);
    const models::LoadedModel older = models::load_model(folder.path());
    expect_equal(family.logits(older), family.logits(family.loaded), "logits");
    EXPECT_EQ(older.model->config_json(), family.loaded.model->config_json());
  });
}

TEST(DecoderFamilies, WrittenModelsAreTheSame) {
  for_each_decoder_family([](const DecoderFamily& family) {
    const TestFolder folder;
    write_json(folder.path("config.json"), family.loaded.model->config_json());
    models::write_weights(folder.path(), family.loaded.model->table(), family.loaded.values, DType::kFloat32);
    const models::LoadedModel again = models::load_model(folder.path());
    EXPECT_EQ(again.model_type, family.loaded.model_type);
    EXPECT_EQ(again.model->config_json(), family.loaded.model->config_json());
    expect_equal(family.logits(again), family.logits(family.loaded), "logits");
  });
}

/// In int8, logits are close, and steps of a search give those of whole texts.
TEST(DecoderFamilies, Quantized) {
  for_each_decoder_family([](const DecoderFamily& family) {
    const models::LoadedModel int8 =
        models::load_model(family.directory, {.precision = models::Precision::kInt8});
    const std::vector<double> expected = family.logits(family.loaded).to_vector<double>(),
                              actual = family.logits(int8).to_vector<double>();
    double squares = 0, errors = 0;
    for (size_t n = 0; n < expected.size(); ++n) {
      squares += expected[n] * expected[n];
      errors += (actual[n] - expected[n]) * (actual[n] - expected[n]);
    }
    EXPECT_LT(errors, 0.01 * squares);
    EXPECT_GT(errors, 0);
    const auto& rows = family.reference.json()["generation"]["rows"];
    EXPECT_EQ(continuations(int8, rows[0], 1)[0].ids.size(), rows[0].at("greedy").size());
  });
}

}  // namespace
}  // namespace heed
