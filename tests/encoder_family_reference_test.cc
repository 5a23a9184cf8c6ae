// Encoder-only families against Hugging Face's classes: token ids, vectors of tokens, attention weights,
// logits, directories that are written again, int8; and sentence embeddings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "base/thread_pool.h"
#include "model_reference.h"
#include "models/config/precision_names.h"
#include "models/directory/model_weights.h"
#include "models/stacks/encoder_heads.h"
#include "reference.h"
#include "tasks/model_files.h"
#include "tasks/text_classifier.h"
#include "tasks/text_embedder.h"
#include "test_folder.h"

namespace heed {
namespace {

using models::EncoderInput;

/// One family's case.
struct EncoderFamily {
  explicit EncoderFamily(const std::string& name)
      : reference(name, "", families_folder()),
        directory((reference.folder() / "model").string()),
        model(tasks::encoder_model(models::load_model(directory))),
        encoder(model.loaded.encoder()) {
    const auto add = [&](const Encoding& encoding, const nlohmann::json& expected) {
      EXPECT_EQ(encoding.ids, expected.at("ids").get<std::vector<int32_t>>());
      input.text.append(encoding.ids);
      input.types.insert(input.types.end(), encoding.types.begin(), encoding.types.end());
    };
    const EncodeOptions options{.read_mask = true};
    for (const auto& each : reference.json().at("texts")) {
      add(model.tokenizer.encode(each.at("text").get<std::string>(), options), each);
    }
    for (const auto& each : reference.json().value("pairs", nlohmann::json::array())) {
      add(model.tokenizer.encode(each.at("first").get<std::string>(), each.at("second").get<std::string>(),
                                 options),
          each);
    }
  }

  double tolerance(const std::string& tensor) const { return reference.tolerance(tensor, "float32"); }

  /// Of a classifier (B, classes), or of a masked language model at its mask tokens (masks, V).
  Tensor logits(const models::LoadedModel& loaded) const {
    nn::Context context = loaded.context();
    if (loaded.model->task() == models::Task::kClassification) {
      return loaded.classifier().logits(context, input);
    }
    std::vector<int32_t> positions;
    const auto masks = reference.tensor("input.mask_positions").to_vector<int64_t>();
    for (size_t n = 0; n < masks.size(); n += 2) {
      positions.push_back(input.text.offsets[masks[n]] + static_cast<int32_t>(masks[n + 1]));
    }
    return loaded.masked_language_model().logits(context, input, positions);
  }

  ReferenceCase reference;
  std::string directory;
  tasks::EncoderModel model;
  const models::Encoder& encoder;
  EncoderInput input;
};

/// test(family) for each case.
template <typename Test>
void for_each_encoder_family(const Test& test) {
  for_each_model_case<EncoderFamily>("encoder_families", test);
}

TEST(EncoderFamilies, VectorsOfTokens) {
  for_each_encoder_family([](const EncoderFamily& family) {
    for (const bool packed : {false, true}) {
      nn::Context context = family.model.loaded.context();
      if (!packed) context.packed = nullptr;
      expect_rows(family.encoder.encode(context, family.input).value(),
                  family.reference.tensor("expected.hidden"), family.input.text.offsets,
                  family.tolerance("expected.hidden"), "hidden");
    }
  });
}

TEST(EncoderFamilies, Logits) {
  for_each_encoder_family([](const EncoderFamily& family) {
    const Tensor logits = family.logits(family.model.loaded);
    expect_close(logits, family.reference.tensor("expected.logits"), family.tolerance("expected.logits"),
                 "logits");
    const auto& guesses = family.reference.json().value("best", nlohmann::json::array());
    for (size_t n = 0; n < guesses.size(); ++n) {
      const float* row = logits.data<float>() + static_cast<int64_t>(n) * logits.dim(1);
      const auto best = guesses[n].at("ids").get<std::vector<int32_t>>();
      std::vector<int32_t> order(static_cast<size_t>(logits.dim(1)));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return row[a] > row[b]; });
      order.resize(best.size());
      EXPECT_EQ(order, best) << "mask " << n;
    }
  });
}

TEST(EncoderFamilies, AttentionWeights) {
  for_each_encoder_family([](const EncoderFamily& family) {
    EncoderInput first;
    first.text.append(family.input.text[0]);
    first.types.assign(family.input.types.begin(), family.input.types.begin() + first.text.offsets[1]);
    KeepAll sink;
    nn::Context context = family.model.loaded.context();
    context.sink = &sink;
    family.encoder.encode(context, first);
    const auto names = family.reference.tensor_names("expected.attention.");
    EXPECT_EQ(sink.all.size(), names.size());
    for (const auto& [place, weights] : sink.all) {
      const std::string name = "expected.attention." + std::to_string(std::get<1>(place));
      expect_weights(weights, family.reference.tensor(name), family.tolerance(name), name);
    }
  });
}

/// The labels and probabilities of whole texts and pairs.
TEST(EncoderFamilies, Classification) {
  for_each_encoder_family([](const EncoderFamily& family) {
    if (family.model.loaded.model->task() != models::Task::kClassification) return;
    const models::Classifier& model = family.model.loaded.classifier();
    const nlohmann::json config = nlohmann::json::parse(content_of(family.directory + "/config.json"));
    for (int n = 0; n < model.classes(); ++n) {
      EXPECT_EQ(model.labels()[n], config.at("id2label").at(std::to_string(n)).get<std::string>());
    }
    std::vector<tasks::ClassifierText> texts;
    for (const auto& each : family.reference.json().at("texts")) texts.push_back({each.at("text")});
    for (const auto& each : family.reference.json().value("pairs", nlohmann::json::array()))
      texts.push_back({each.at("first"), each.at("second").get<std::string>()});
    ThreadPool pool(2);
    const tasks::TextClassifier classifier(model, family.model.loaded.context(), family.model.tokenizer,
                                           pool);
    const auto found = classifier.classify(texts);
    const std::vector<double> logits = family.reference.tensor("expected.logits").to_vector<double>();
    const int classes = model.classes();
    for (size_t n = 0; n < texts.size(); ++n) {
      double sum = 0;
      for (int c = 0; c < classes; ++c) sum += std::exp(logits[n * classes + c]);
      for (int c = 0; c < classes; ++c) {
        EXPECT_NEAR(found[n].log_probabilities[c], logits[n * classes + c] - std::log(sum),
                    4 * family.tolerance("expected.logits"));
      }
    }
  });
}

TEST(EncoderFamilies, WrittenModelsAreTheSame) {
  for_each_encoder_family([](const EncoderFamily& family) {
    const TestFolder folder;
    const models::LoadedModel& loaded = family.model.loaded;
    write_json(folder.path("config.json"), loaded.model->config_json());
    models::write_weights(folder.path(), loaded.model->table(), loaded.values, DType::kFloat32);
    const models::LoadedModel again = models::load_model(folder.path());
    EXPECT_EQ(again.model_type, loaded.model_type);
    EXPECT_EQ(again.model->config_json(), loaded.model->config_json());
    expect_equal(family.logits(again), family.logits(loaded), "logits");
  });
}

void expect_close_in_int8(const std::vector<double>& actual, const std::vector<double>& expected) {
  double squares = 0, errors = 0;
  for (size_t n = 0; n < expected.size(); ++n) {
    squares += expected[n] * expected[n];
    errors += (actual[n] - expected[n]) * (actual[n] - expected[n]);
  }
  EXPECT_LT(errors, 0.01 * squares);
  EXPECT_GT(errors, 0);
}

TEST(EncoderFamilies, Quantized) {
  for_each_encoder_family([](const EncoderFamily& family) {
    const models::LoadedModel int8 =
        models::load_model(family.directory, {.precision = models::Precision::kInt8});
    expect_close_in_int8(family.logits(int8).to_vector<double>(),
                         family.logits(family.model.loaded).to_vector<double>());
    const TestFolder folder;
    auto config = int8.model->config_json();
    models::note_quantization(config, 8);
    write_json(folder.path("config.json"), config);
    models::write_quantized_weights(folder.path(), int8.model->table(), int8.values, *int8.quantized,
                                    WeightFiles::open(family.directory));
    expect_equal(family.logits(models::load_model(folder.path())), family.logits(int8), "stored int8");
  });
}

/// The cosine of the logits, all together.
double cosine_of(const std::vector<double>& a, const std::vector<double>& b) {
  double product = 0, squares_a = 0, squares_b = 0;
  for (size_t n = 0; n < a.size(); ++n) {
    product += a[n] * b[n];
    squares_a += a[n] * a[n];
    squares_b += b[n] * b[n];
  }
  return product / std::sqrt(squares_a * squares_b);
}

TEST(EncoderFamilies, InBfloat16) {
  if (!models::runs_here(models::Precision::kBfloat16)) GTEST_SKIP() << "not on this instruction set";
  for_each_encoder_family([](const EncoderFamily& family) {
    const models::LoadedModel rounded =
        models::load_model(family.directory, {.precision = models::Precision::kBfloat16});
    const double cosine = cosine_of(family.logits(rounded).to_vector<double>(),
                                    family.logits(family.model.loaded).to_vector<double>());
    EXPECT_GT(cosine, 0.9999);
    EXPECT_LT(cosine, 1 - 1e-9) << "not rounded";
  });
}

TEST(Embeddings, VectorsAndCosines) {
  const auto cases = fixture_cases("embeddings", families_folder());
  if (cases.empty()) GTEST_SKIP() << missing_families();
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    const ReferenceCase reference(name, "", families_folder());
    const tasks::EncoderModel model =
        tasks::encoder_model(models::load_model((reference.folder() / "model").string()));
    ThreadPool pool(2);
    const tasks::TextEmbedder embedder(model.loaded.encoder(), model.loaded.context(), model.tokenizer,
                                       tasks::embedding_settings(model.loaded, {}), pool);
    EXPECT_EQ(embedder.max_length(), reference.hyperparameters().at("longest").get<int64_t>());
    std::vector<std::string> texts;
    for (const auto& each : reference.json().at("texts")) {
      texts.push_back(each.at("text"));
      EXPECT_EQ(embedder.encode(texts.back()).ids, each.at("ids").get<std::vector<int32_t>>());
    }
    const TextVectors found = embedder.embed(texts);
    expect_close(found.vectors, reference.tensor("expected.vectors"),
                 reference.tolerance("expected.vectors", "float32"), name);
    const std::vector<double> vectors = found.vectors.to_vector<double>(),
                              cosines = reference.tensor("expected.cosine").to_vector<double>();
    const auto dot = [&](size_t a, size_t b) {
      const auto width = static_cast<size_t>(embedder.width());
      double sum = 0;
      for (size_t n = 0; n < width; ++n) sum += vectors[a * width + n] * vectors[b * width + n];
      return sum;
    };
    for (size_t a = 0; a < texts.size(); ++a) {
      for (size_t b = 0; b < texts.size(); ++b) {
        EXPECT_NEAR(dot(a, b) / std::sqrt(dot(a, a) * dot(b, b)), cosines[a * texts.size() + b],
                    reference.tolerance("expected.cosine", "float32"));
      }
    }
    for (size_t n = 0; n < texts.size(); ++n) {
      expect_equal(embedder.embed({texts[n]}).vectors,
                   found.vectors.narrow(0, static_cast<int64_t>(n), 1).clone(), "alone");
    }
  }
}

}  // namespace
}  // namespace heed
