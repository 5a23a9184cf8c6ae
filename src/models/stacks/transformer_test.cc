// Properties of the Transformer with every position encoding and norm.
#include "models/stacks/transformer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "autograd/gradient_check.h"
#include "compare.h"
#include "models/config/transformer_config.h"
#include "models/test_models.h"
#include "random_tensor.h"
#include "test_folder.h"

namespace heed::models {
namespace {

TransformerConfig tiny_config() {
  TransformerConfig config;
  config.vocabulary = 23;
  config.width = 8;
  config.encoder_layers = config.decoder_layers = 2;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 12;
  config.activation = Activation::kSwish;
  config.dropout = config.attention_dropout = config.activation_dropout = 0.1;
  config.max_length = 30;
  config.padding_id = config.start_id = 22;
  config.positions.max_relative_distance = 2;
  config.positions.buckets = 8;
  config.positions.bucket_max_distance = 6;
  return config;
}

/// Every kind of positions, and every norm before and after.
std::vector<TransformerConfig> all_transformer_configs() {
  std::vector<TransformerConfig> configs;
  for (const auto& [name, kind] : position_names()) {
    if (name == "halves" || name == "interleaved") continue;  // aliases
    configs.push_back(tiny_config());
    configs.back().positions.kind = kind;
  }
  for (const auto& [name, norm] : norm_names()) {
    for (const bool norm_first : {false, true}) {
      configs.push_back(tiny_config());
      configs.back().norm = norm;
      configs.back().norm_first = norm_first;
    }
  }
  // Embeddings of their own for source, target and output.
  for (const bool tied : {false, true}) {
    configs.push_back(tiny_config());
    configs.back().source_vocabulary = 29;
    configs.back().share_embeddings = false;
    configs.back().tied_output = tied;
  }
  configs.push_back(tiny_config());
  configs.back().tied_output = false;
  return configs;
}

std::string name_of(const TransformerConfig& config) {
  return transformer_config_json(config).dump();
}

/// Variances among the parameters, which cannot be below 0.
void make_variances_positive(const nn::ParameterTable& table, nn::ParameterArray& values) {
  for (int row = 0; row < table.size(); ++row) {
    if (!table[row].name.ends_with("running_var")) continue;
    Tensor view = values.view(table, {row, 1});
    for (int64_t i = 0; i < view.size(); ++i) {
      if (view.dtype() == DType::kFloat32) {
        view.data<float>()[i] = 1 + std::abs(view.data<float>()[i]);
      } else {
        view.data<double>()[i] = 1 + std::abs(view.data<double>()[i]);
      }
    }
  }
}

/// A model with weights drawn from a seed.
struct Tiny : ModelWithWeights<Transformer> {
  explicit Tiny(const TransformerConfig& config) : ModelWithWeights(config, 1) {
    make_variances_positive(model.table(), values);
  }
};

/// The logits of decoding the targets token by token, in the order of all tokens.
Tensor step_by_step(const Tiny& tiny, const Sequences& source, const Sequences& target) {
  nn::Context context = tiny.context();
  const auto state = tiny.model.start(context);
  const std::vector<int32_t> numbers = tiny.model.admit(context, *state, source);
  Tensor all = Tensor::empty({static_cast<int64_t>(target.ids.size()), tiny.model.vocabulary_size()});
  std::vector<int32_t> rows_before(static_cast<size_t>(target.count()), -1);
  for (size_t t = 0;; ++t) {
    std::vector<StepRow> rows;
    std::vector<int> sentences;
    for (int b = target.count() - 1; b >= 0; --b) {  // in another order than the batch, and fewer and fewer
      if (t >= target[b].size()) continue;
      rows.push_back({numbers[b], rows_before[b], target[b][t]});
      sentences.push_back(b);
    }
    if (rows.empty()) return all;
    const Tensor step = tiny.model.step(context, *state, rows);
    for (size_t r = 0; r < rows.size(); ++r) {
      const int64_t to = target.offsets[sentences[r]] + static_cast<int64_t>(t);
      std::copy_n(step.data<float>() + static_cast<int64_t>(r) * step.dim(1), step.dim(1),
                  all.data<float>() + to * step.dim(1));
      rows_before[sentences[r]] = static_cast<int32_t>(r);
    }
  }
}

TEST(Transformer, StepsEqualTeacherForcing) {
  const Sequences source = random_sequences(5, 9, 20, 1), target = random_sequences(5, 12, 20, 2);
  for (const TransformerConfig& config : all_transformer_configs()) {
    const Tiny tiny(config);
    nn::Context context = tiny.context();
    // Float32 sums of widths up to 23 through four layers, of numbers of size 1 to 30.
    expect_close(step_by_step(tiny, source, target), tiny.model.logits(context, source, target), 2e-3,
                 name_of(config));
  }
}

TEST(Transformer, DraftsAreStepsOfTheirOwn) {
  const Sequences source = random_sequences(1, 9, 20, 1), target = random_sequences(1, 12, 20, 2);
  for (const TransformerConfig& config : all_transformer_configs()) {
    const Tiny tiny(config);
    nn::Context context = tiny.context();
    const auto state = tiny.model.start(context);
    const int32_t sentence = tiny.model.admit(context, *state, source)[0];
    std::vector<StepRow> rows;
    for (const int32_t token : target.ids) rows.push_back({sentence, -1, token, !rows.empty()});
    expect_equal(tiny.model.step(context, *state, rows), step_by_step(tiny, source, target), name_of(config));
  }
}

TEST(Transformer, IsBatchInvariant) {
  const Sequences source = random_sequences(6, 15, 20, 3), target = random_sequences(6, 12, 20, 4);
  for (const TransformerConfig& config : all_transformer_configs()) {
    const Tiny tiny(config);
    nn::Context context = tiny.context();
    const Tensor together = tiny.model.logits(context, source, target);
    const Tensor stepped = step_by_step(tiny, source, target);
    for (int b = 0; b < source.count(); ++b) {
      const Sequences one = one_of(source, b), words = one_of(target, b);
      const auto part = [&](const Tensor& all) {
        return all.narrow(0, target.offsets[b], static_cast<int64_t>(words.ids.size())).clone();
      };
      expect_equal(tiny.model.logits(context, one, words), part(together), name_of(config));
      expect_equal(step_by_step(tiny, one, words), part(stepped), "steps, " + name_of(config));
    }
    const Sequences other = random_sequences(6, 15, 20, 5);
    EXPECT_GT(largest_difference(tiny.model.logits(context, other, target), together), 1e-3) << "the control";
  }
}

TEST(Transformer, RecordingChangesNothing) {
  struct Count : nn::AttentionSink {
    void receive(const nn::AttentionLayerId&, const Var&, const ops::AttentionLayout&, int) override {
      ++calls;
    }
    int calls = 0;
  };
  const Sequences source = random_sequences(3, 9, 20, 6), target = random_sequences(3, 9, 20, 7);
  for (const TransformerConfig& config : all_transformer_configs()) {
    const Tiny tiny(config);
    nn::Context context = tiny.context(), listened = tiny.context();
    Count sink;
    listened.sink = &sink;
    expect_close(tiny.model.logits(listened, source, target), tiny.model.logits(context, source, target),
                 2e-3, name_of(config));
    EXPECT_EQ(sink.calls, 2 + 2 + 2);
  }
}

// The whole model as a function of its parameters, with dropout and label smoothing, in float64.
TEST(Transformer, GradientsOfTheLoss) {
  for (TransformerConfig config : all_transformer_configs()) {
    config.vocabulary = 9;
    config.padding_id = config.start_id = 8;
    config.width = 4;
    config.encoder_layers = config.decoder_layers = 1;
    config.encoder_inner_width = config.decoder_inner_width = 3;
    config.max_length = 4;
    config.positions.buckets = 4;
    config.positions.bucket_max_distance = 3;
    const Transformer model(config);
    const nn::ParameterTable& table = model.table();
    const Sequences source = random_sequences(3, 4, 8, 6), target = random_sequences(3, 4, 8, 7);
    const auto labels = TensorSource(8).ids({target.offsets.back()}, 9).to_vector<int32_t>();
    nn::ParameterArray all(table, DType::kFloat64);
    all.flat() = TensorSource(9).normal({table.elements()}, DType::kFloat64, 0.5);
    make_variances_positive(table, all);
    // Running averages and the output bias are not variables of it: they come after the trained parameters.
    std::vector<int64_t> trained;
    for (int row = 0; row < table.size(); ++row) {
      for (int64_t i = table.offset(row); table[row].trained && i < table.offset(row + 1); ++i)
        trained.push_back(i);
    }
    const auto count = static_cast<int64_t>(trained.size());
    const auto loss = [&](const std::vector<Var>& x) {
      nn::ParameterArray values, gradients(table, DType::kFloat64);
      values.flat() = all.flat().clone();
      for (int64_t n = 0; n < count; ++n) {
        values.flat().data<double>()[trained[n]] = x[0].value().data<double>()[n];
      }
      nn::Context context;
      context.table = &table;
      context.values = &values;
      context.training = true;
      context.random = RandomKey::from_seed(3);
      Tape* tape = x[0].tape();
      if (tape == nullptr)
        return model.loss(context, source, target, labels, {.smoothing = 0.1, .scale = 0.5}).loss;
      Tape inner;
      context.tape = &inner;
      context.gradients = &gradients;
      const Var result = model.loss(context, source, target, labels, {.smoothing = 0.1, .scale = 0.5}).loss;
      inner.backward(result);
      Tensor dx = Tensor::empty({count}, DType::kFloat64);
      for (int64_t n = 0; n < count; ++n) {
        dx.data<double>()[n] = gradients.flat().data<double>()[trained[n]];
      }
      return tape->record(result.value(), [x = x[0], tape, dx](const Tensor&) { tape->add_gradient(x, dx); });
    };
    Tensor start = Tensor::empty({count}, DType::kFloat64);
    for (int64_t n = 0; n < count; ++n) start.data<double>()[n] = all.flat().data<double>()[trained[n]];
    // Norms of four features have large third derivatives, which increase the error of differences.
    EXPECT_EQ(gradient_mismatch(loss, {start}, {.unit_upstream = true, .tolerance_factor = 100}), "")
        << name_of(config);
  }
}

/// The vectors of the words of one sentence, as a set.
std::vector<std::vector<float>> word_vectors(const Tiny& tiny, const std::vector<int32_t>& words) {
  Sequences source;
  source.append(words);
  nn::Context context = tiny.context();
  const Tensor memory = tiny.model.encode(context, source).value();
  std::vector<std::vector<float>> rows;
  for (int64_t t = 0; t < memory.dim(0); ++t) {
    rows.push_back(memory.narrow(0, t, 1).to_vector<float>());
    for (float& value : rows.back()) value = std::round(value * 1e3f) / 1e3f;  // sums in another order
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

// "Mary gives John a flower" and "John gives Mary a flower".
TEST(Transformer, DepthScaledInitDividesByTheRootOfTheLayer) {
  TransformerConfig config = tiny_config();
  config.encoder_layers = 4;
  const auto weights_of = [&](bool scaled) {
    config.depth_scaled_init = scaled;
    const Transformer model(config);
    nn::ParameterArray values(model.table(), DType::kFloat32);
    nn::initialize(model.table(), values, RandomKey::from_seed(3));
    std::map<std::string, float> first;  // element of each parameter
    for (int row = 0; row < model.table().size(); ++row) {
      first[model.table()[row].name] = values.view(model.table(), {row, 1}).data<float>()[0];
    }
    return first;
  };
  const auto plain = weights_of(false), scaled = weights_of(true);
  const auto ratio = [&](const std::string& name) { return scaled.at(name) / plain.at(name); };
  EXPECT_FLOAT_EQ(ratio("model.encoder.layers.0.fc1.weight"), 1);
  EXPECT_FLOAT_EQ(ratio("model.encoder.layers.3.fc2.weight"), 1 / std::sqrt(4.0f));
  EXPECT_FLOAT_EQ(ratio("model.encoder.layers.2.self_attn.q_proj.weight"), 1 / std::sqrt(3.0f));
  EXPECT_FLOAT_EQ(ratio("model.decoder.layers.1.encoder_attn.out_proj.weight"), 1 / std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(ratio("model.decoder.layers.1.final_layer_norm.weight"), 1);
  EXPECT_FLOAT_EQ(ratio("model.shared.weight"), 1);
}

TEST(Transformer, OnlyPositionsEncodeWordOrder) {
  const std::vector<int32_t> mary{3, 4, 5, 6, 7, 0}, john{5, 4, 3, 6, 7, 0};
  for (const TransformerConfig& config : all_transformer_configs()) {
    const Tiny tiny(config);
    if (config.positions.kind == nn::PositionKind::kNone) {
      EXPECT_EQ(word_vectors(tiny, mary), word_vectors(tiny, john));
    } else {
      EXPECT_NE(word_vectors(tiny, mary), word_vectors(tiny, john)) << name_of(config);
    }
  }
}

// ---- config.json ------------------------------------------------------------------------------------------

TEST(TransformerConfig, RoundTrip) {
  for (const TransformerConfig& config : all_transformer_configs()) {
    const std::string text = name_of(config);
    EXPECT_EQ(name_of(read_transformer_config(JsonObject::parse(text, "config.json"))), text);
  }
}

TEST(TransformerConfig, OtherFeaturesHaveTypeHeedTransformer) {
  for (const TransformerConfig& config : all_transformer_configs()) {
    const bool marian = config.positions.kind == nn::PositionKind::kSinusoidal && !config.norm_first &&
                        config.norm == nn::NormKind::kLayer;
    EXPECT_EQ(transformer_config_json(config).at("model_type"), marian ? "marian" : "heed_transformer");
    EXPECT_EQ(Transformer(config).beyond_hugging_face().empty(), marian);
  }
  TransformerConfig config = tiny_config();
  config.positions.kind = nn::PositionKind::kRotary;
  config.norm = nn::NormKind::kBatch;
  EXPECT_THAT(
      unsupported_by_marian(config),
      testing::ElementsAre("batch norm (normalization)", "rotary positions (position_embedding_type)"));
}

TEST(TransformerConfig, ReadsTheOldSinusoidLayout) {
  TransformerConfig config = tiny_config();
  config.norm_first = true;
  auto json = transformer_config_json(config);
  json.erase("position_embedding_type");
  json["position_layout"] = "interleaved";
  EXPECT_EQ(static_cast<int>(read_transformer_config(JsonObject::parse(json.dump(), "c")).positions.kind),
            static_cast<int>(nn::PositionKind::kSinusoidalInterleaved));
  json["position_embedding_type"] = "rotery";
  expect_error(ErrorKind::kFormat, "'position_embedding_type'",
               [&] { read_transformer_config(JsonObject::parse(json.dump(), "c")); });
}

}  // namespace
}  // namespace heed::models
