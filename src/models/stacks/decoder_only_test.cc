#include "models/stacks/decoder_only.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/text/json_file.h"
#include "compare.h"
#include "io/safetensors/safetensors.h"
#include "models/architecture.h"
#include "models/config/decoder_only_config.h"
#include "models/directory/loaded_model.h"
#include "nn/module_test.h"
#include "ops/elementwise.h"
#include "test_folder.h"

namespace heed::models {
namespace {

/// (1, 1, length, length): 1 for the positions that a position sees, itself and all before it.
Tensor causal_mask(int64_t length) {
  std::vector<float> seen(static_cast<size_t>(length * length));
  for (int64_t q = 0; q < length; ++q) std::fill_n(&seen[static_cast<size_t>(q * length)], q + 1, 1.0f);
  return Tensor::from(seen, {1, 1, length, length});
}

/// A model of the family of an architecture.
DecoderOnlyConfig tiny(const Architecture& architecture) {
  ModelSettings settings = architecture.preset(PresetSize::kTiny).settings;
  settings.vocabulary = 11;
  settings.width = 8;
  settings.layers = 2;
  settings.heads = 4;
  settings.inner_width = 6;
  settings.max_length = 12;
  settings.dropout = settings.attention_dropout = 0.2;
  settings.end_id = 2;
  const std::unique_ptr<Model> model = architecture.make(settings);
  DecoderOnlyConfig c = dynamic_cast<const DecoderOnly&>(*model).config();
  if (architecture.name == "gpt2") return c;
  c.key_value_heads = 2;
  c.head_width = 4;  // wider than width / heads
  c.tied_output = architecture.name.starts_with("gemma");
  c.window = std::min<int64_t>(c.window, 3);
  c.score_cap = std::min(c.score_cap, 4.0);  // so that caps matter
  c.logit_cap = std::min(c.logit_cap, 6.0);
  return c;
}

DecoderOnlyConfig tiny(const DecoderOnlyFamily& family) {
  return tiny(*architecture_of_type(family.model_type));
}

/// All families.
const std::vector<const DecoderOnlyFamily*>& families() {
  static const std::vector<const DecoderOnlyFamily*> all = [] {
    std::vector<const DecoderOnlyFamily*> found;
    for (const Architecture& each : architectures()) {
      if (each.task == Task::kLanguageModel) found.push_back(tiny(each).family);
    }
    return found;
  }();
  return all;
}

Sequences text_of(const std::vector<std::vector<int32_t>>& texts) {
  Sequences sequences;
  for (const auto& text : texts) sequences.append(text);
  return sequences;
}

/// A model with random parameters, ready for inference.
struct Ready {
  explicit Ready(const DecoderOnlyConfig& config)
      : model(config),
        values(nn::random_parameters(model.table(), DType::kFloat32, 4, 0.4)),
        packed(model.table(), values) {}
  nn::Context context() const { return packed.context(); }
  DecoderOnly model;
  nn::ParameterArray values;
  nn::PackedWeights packed;
};

TEST(DecoderOnly, Gradients) {
  const Sequences text = text_of({{1, 5, 3}, {4}, {2, 7, 5, 10, 3}});
  const std::vector<int32_t> labels{5, 3, 9, 4, 7, 5, 10, 3, 1};
  for (const DecoderOnlyFamily* family : families()) {
    const DecoderOnly model(tiny(*family));
    for (const bool training : {false, true}) {
      if (training && family->model_type != "gpt2" && family->model_type != "llama") continue;  // as Llama
      const nn::Module module = [&](nn::Context& c, const std::vector<Var>& x) {
        return ops::add(x[0], model.loss(c, text, labels, {.smoothing = 0.1, .scale = 0.7}).loss);
      };
      // Consecutive norms of few features have larger higher derivatives than a single layer.
      EXPECT_EQ(gradient_mismatch(nn::with_parameters(model.table(), module, training),
                                  {TensorSource(1).normal({1}), nn::random_parameters(model.table()).flat()},
                                  {.step = 3e-4, .unit_upstream = true, .tolerance_factor = 100}),
                "")
          << family->model_type;
    }
  }
}

/// A forward pass over whole sequences equals incremental steps after a prompt, with branching hypotheses.
TEST(DecoderOnly, StepsAgreeWithTheForwardPass) {
  for (const DecoderOnlyFamily* family : families()) {
    Ready ready(tiny(*family));
    nn::Context context = ready.context();
    const std::vector<std::vector<int32_t>> prompts{{1, 5, 3, 9, 4, 8}, {4}};
    auto state = ready.model.start(context);
    const std::vector<int32_t> numbers = ready.model.admit(context, *state, text_of(prompts));
    // The two hypotheses of the first prompt continue differently; the second prompt has one.
    const Tensor first =
        ready.model.step(context, *state, {{numbers[0], -1, 8}, {numbers[0], -1, 8}, {numbers[1], -1, 4}});
    const Tensor second =
        ready.model.step(context, *state, {{numbers[0], 1, 7}, {numbers[0], 0, 6}, {numbers[1], 2, 10}});
    const Tensor third = ready.model.step(context, *state, {{numbers[1], 2, 3}, {numbers[0], 1, 1}});
    const auto last_of = [&](const std::vector<int32_t>& text) {
      const Tensor all = ready.model.logits(context, text_of({text}));
      return all.narrow(0, all.dim(0) - 1, 1).clone();
    };
    const auto row = [](const Tensor& logits, int64_t n) { return logits.narrow(0, n, 1).clone(); };
    const double tolerance = 1e-4;
    expect_close(row(first, 0), last_of(prompts[0]), tolerance, "prompt");
    expect_close(row(first, 2), last_of(prompts[1]), tolerance, "prompt of one");
    expect_close(row(second, 0), last_of({1, 5, 3, 9, 4, 8, 7}), tolerance, "one branch");
    expect_close(row(second, 1), last_of({1, 5, 3, 9, 4, 8, 6}), tolerance, "the other");
    expect_close(row(third, 0), last_of({4, 10, 3}), tolerance, "second prompt");
    expect_close(row(third, 1), last_of({1, 5, 3, 9, 4, 8, 6, 1}), tolerance, "a branch goes on");
    // The other branch is another text.
    EXPECT_GT(difference_of(row(second, 0).to_vector<double>()[0], row(second, 1).to_vector<double>()[0]),
              1e-3);
  }
}

/// Drafts have the logits of steps of their own, and wrong ones leave no trace.
TEST(DecoderOnly, DraftsAreStepsOfTheirOwn) {
  for (const DecoderOnlyFamily* family : families()) {
    Ready ready(tiny(*family));
    nn::Context context = ready.context();
    const auto start = [&] {
      auto state = ready.model.start(context);
      ready.model.admit(context, *state, text_of({{1, 5, 3}}));
      return state;
    };
    const auto alone = start(), together = start();
    std::vector<Tensor> steps;
    for (const int32_t token : {3, 9, 4, 8, 2}) {
      steps.push_back(ready.model.step(context, *alone, {{0, steps.empty() ? -1 : 0, token}}));
    }
    const Tensor first =
        ready.model.step(context, *together, {{0, -1, 3}, {0, -1, 9, true}, {0, -1, 7, true}});
    expect_equal(first.narrow(0, 0, 1).clone(), steps[0], "the hypothesis");
    expect_equal(first.narrow(0, 1, 1).clone(), steps[1], "a right draft");
    EXPECT_NE(first.narrow(0, 2, 1).to_vector<float>(), steps[2].to_vector<float>()) << "a wrong draft";
    const Tensor second =
        ready.model.step(context, *together, {{0, 1, 4}, {0, -1, 8, true}, {0, -1, 2, true}});
    for (int64_t n = 0; n < 3; ++n) expect_equal(second.narrow(0, n, 1).clone(), steps[2 + n], "after it");
  }
}

TEST(DecoderOnly, FinishedRowsAreReused) {
  Ready ready(tiny(gpt2_family()));
  nn::Context context = ready.context();
  auto state = ready.model.start(context);
  const auto first = ready.model.admit(context, *state, text_of({{1, 5, 3}}));
  ready.model.step(context, *state, {{first[0], -1, 3}});
  ready.model.release(*state, first[0]);
  const auto second = ready.model.admit(context, *state, text_of({{7, 8}, {9, 10, 1}}));
  const Tensor logits = ready.model.step(context, *state, {{second[0], -1, 8}, {second[1], -1, 1}});
  auto fresh = ready.model.start(context);
  const auto alone = ready.model.admit(context, *fresh, text_of({{9, 10, 1}}));
  expect_equal(ready.model.step(context, *fresh, {{alone[0], -1, 1}}), logits.narrow(0, 1, 1).clone(),
               "alone");
}

TEST(DecoderOnly, IsBatchInvariant) {
  for (const DecoderOnlyFamily* family : families()) {
    Ready ready(tiny(*family));
    nn::Context context = ready.context();
    const Tensor together = ready.model.logits(context, text_of({{2, 7}, {1, 5, 3, 9}, {4}}));
    const Tensor alone = ready.model.logits(context, text_of({{1, 5, 3, 9}}));
    expect_equal(alone, together.narrow(0, 2, 4).clone(), "alone");
    // Tokens attend to preceding tokens but not to later ones.
    const Tensor other_end = ready.model.logits(context, text_of({{1, 5, 3, 10}}));
    expect_equal(other_end.narrow(0, 0, 3).clone(), alone.narrow(0, 0, 3).clone(), "another last word");
    const Tensor other_start = ready.model.logits(context, text_of({{6, 5, 3, 9}}));
    EXPECT_NE(other_start.narrow(0, 3, 1).clone().to_vector<double>(),
              alone.narrow(0, 3, 1).clone().to_vector<double>());
  }
}

TEST(DecoderOnly, DirectoryRoundTrip) {
  for (const DecoderOnlyFamily* family : families()) {
    Ready ready(tiny(*family));
    const TestFolder folder;
    write_json(folder.path("config.json"), ready.model.config_json());
    write_weights(folder.path(), ready.model.table(), ready.values, DType::kFloat32);
    const LoadedModel loaded = load_model(folder.path());
    EXPECT_EQ(loaded.model_type, family->model_type);
    EXPECT_EQ(loaded.model->config_json(), ready.model.config_json());
    expect_equal(loaded.values.flat(), ready.values.flat(), family->model_type);
    expect_error(ErrorKind::kUsage, "use heed generate", [&] { loaded.seq2seq(); });
  }
}

TEST(DecoderOnly, Gpt2MatricesAreTransposedInFiles) {
  Ready ready(tiny(gpt2_family()));
  const TestFolder folder;
  write_weights(folder.path(), ready.model.table(), ready.values, DType::kFloat32);
  const auto file = SafetensorsReader::open(folder.path("model.safetensors"));
  EXPECT_EQ(file.info("transformer.h.0.attn.c_attn.weight").shape, (Shape{8, 24}));
  EXPECT_EQ(file.info("transformer.h.1.mlp.c_proj.weight").shape, (Shape{6, 8}));
  EXPECT_EQ(file.info("transformer.wte.weight").shape, (Shape{11, 8}));
  EXPECT_FALSE(file.has("lm_head.weight"));
}

TEST(DecoderOnly, OpensOldGpt2Files) {
  Ready ready(tiny(gpt2_family()));
  const TestFolder folder;
  write_json(folder.path("config.json"), ready.model.config_json());
  write_weights(folder.path(), ready.model.table(), ready.values, DType::kFloat32);
  std::vector<std::pair<std::string, Tensor>> tensors;
  {
    const auto file = SafetensorsReader::open(folder.path("model.safetensors"));
    for (const TensorInfo& info : file.infos()) {
      tensors.emplace_back(info.name.substr(std::string("transformer.").size()), file.read(info.name));
    }
  }
  tensors.emplace_back("h.1.attn.bias", causal_mask(12));
  write_safetensors(folder.path("model.safetensors"), tensors, {{"format", "pt"}});
  expect_equal(load_model(folder.path()).values.flat(), ready.values.flat(), "without the prefix");
}

struct BrokenConfig {
  const DecoderOnlyFamily* family;
  std::string key;
  nlohmann::ordered_json value;
  std::string message;
};

TEST(DecoderOnly, HostileConfigsAreRefused) {
  const auto huge = int64_t{1} << 40;
  const std::vector<BrokenConfig> cases{
      {&gpt2_family(), "n_embd", huge, "n_embd"},
      {&gpt2_family(), "n_embd", -8, "n_embd"},
      {&gpt2_family(), "n_layer", 100000, "n_layer"},
      {&gpt2_family(), "n_head", 3, "a number that divides n_embd (8)"},
      {&gpt2_family(), "n_positions", 0, "n_positions"},
      {&gpt2_family(), "vocab_size", "many", "vocab_size"},
      {&gpt2_family(), "activation_function", "gelu_neu", "gelu_new"},
      {&gpt2_family(), "add_cross_attention", true, "'add_cross_attention' is true, expected false"},
      {&gpt2_family(), "eos_token_id", 11, "eos_token_id"},
      {&gpt2_family(), "n_positions", 24, "'transformer.wpe.weight' has the shape (24, 8) by config.json"},
      {&llama_family(), "num_key_value_heads", 3, "a number that divides num_attention_heads (4)"},
      {&llama_family(), "head_dim", 5, "even width"},
      {&llama_family(), "num_attention_heads", 0, "num_attention_heads"},
      {&llama_family(), "hidden_size", huge, "hidden_size"},
      {&llama_family(), "rope_parameters", {{"rope_type", "longrope"}}, "\"llama3\", \"yarn\""},
      {&llama_family(), "rope_parameters", {{"rope_type", "linear"}}, "rope_parameters.factor"},
      {&llama_family(), "rope_parameters", {{"rope_theta", 0}}, "rope_theta"},
      {&llama_family(), "num_hidden_layers", 3, "the parameter 'model.layers.2."},
      {&llama_family(), "num_hidden_layers", 1, "which is not a parameter of this model"}};
  for (const BrokenConfig& each : cases) {
    Ready ready(tiny(*each.family));
    const TestFolder folder;
    write_weights(folder.path(), ready.model.table(), ready.values, DType::kFloat32);
    nlohmann::ordered_json config = ready.model.config_json();
    config[each.key] = each.value;
    write_json(folder.path("config.json"), config);
    expect_error(ErrorKind::kFormat, each.message, [&] { load_model(folder.path()); });
  }
}

TEST(DecoderOnly, RefusesInvalidInput) {
  Ready ready(tiny(gpt2_family()));
  nn::Context context = ready.context();
  expect_error(ErrorKind::kUsage, "a sequence of 13 tokens exceeds the model's maximum length of 12",
               [&] { ready.model.logits(context, text_of({std::vector<int32_t>(13, 1)})); });
  auto state = ready.model.start(context);
  expect_error(ErrorKind::kUsage, "needs a prompt of at least one token",
               [&] { ready.model.admit(context, *state, text_of({{}})); });
}

}  // namespace
}  // namespace heed::models
