// The Transformer against Hugging Face's MarianMTModel: encoder outputs, attention weights, logits, loss,
// gradients of all parameters, and the parameters after some steps of Adam.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/pointwise/adam.h"
#include "model_reference.h"
#include "models/directory/loaded_model.h"
#include "models/stacks/transformer.h"
#include "reference.h"

namespace heed {
namespace {

/// The decoder input: `target` shifted right by one token.
Sequences shifted_right(const Sequences& target, int32_t start) {
  Sequences shifted;
  for (int b = 0; b < target.count(); ++b) {
    std::vector<int32_t> row(target.ids.begin() + target.offsets[b],
                             target.ids.begin() + target.offsets[b + 1]);
    row.insert(row.begin(), start);
    row.pop_back();
    shifted.append(row);
  }
  return shifted;
}

/// The parameters in another precision, and a context for them.
struct Loaded {
  Loaded(const std::string& directory, DType dtype) : model(models::load_model(directory)) {
    transformer = dynamic_cast<const models::Transformer*>(model.model.get());
    values = nn::ParameterArray(model.model->table(), dtype);
    values.flat() = model.values.flat().to(dtype);
  }
  nn::Context context() const {
    nn::Context context;
    context.table = &model.model->table();
    context.values = &values;
    return context;
  }
  models::LoadedModel model;
  const models::Transformer* transformer = nullptr;
  nn::ParameterArray values;
};

TEST(TransformerReference, MemoryAttentionsAndLogits) {
  const auto cases = fixture_cases("marian");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  const ReferenceCase reference("marian");
  const int64_t padding = reference.hyperparameters().at("padding_id");
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const Loaded loaded((reference.folder() / "model").string(), dtype);
    ASSERT_NE(loaded.transformer, nullptr);
    const Sequences source = sequences_of(reference.tensor("input.source"), padding);
    const Sequences target = sequences_of(reference.tensor("input.target"), padding);
    const Sequences input = shifted_right(target, loaded.transformer->start_id());
    for (const bool packed : {false, true}) {
      if (packed && dtype != DType::kFloat32) continue;
      for (const bool listening : {false, true}) {
        const std::string what =
            std::string(name_of(dtype)) + (packed ? ", packed" : "") + (listening ? ", listening" : "");
        KeepAll sink;
        nn::Context context = loaded.context();
        if (listening) context.sink = &sink;
        if (packed) context.packed = loaded.model.packed.get();
        const auto tolerance = [&](const std::string& name) { return reference.tolerance(name, "float32"); };
        const Var memory = loaded.transformer->encode(context, source);
        expect_rows(memory.value(), reference.tensor("expected.memory"), source.offsets,
                    tolerance("expected.memory"), "memory, " + what);
        const Tensor logits = loaded.transformer->logits(context, source, input);
        expect_rows(logits, reference.tensor("expected.logits"), target.offsets, tolerance("expected.logits"),
                    "logits, " + what);
        if (!listening) continue;
        const std::map<Stack, std::string> stacks{
            {Stack::kEncoder, "encoder"}, {Stack::kDecoder, "decoder"}, {Stack::kCross, "cross"}};
        size_t compared = 0;
        for (const auto& [stack, label] : stacks) {
          const std::string prefix = "expected." + label + "_attention.";
          for (const std::string& name : reference.tensor_names(prefix)) {
            const auto found = sink.all.find({stack, std::stoi(name.substr(prefix.size()))});
            ASSERT_NE(found, sink.all.end()) << name;
            expect_weights(found->second, reference.tensor(name), tolerance(name),
                           fmt::format("{}, {}", name, what));
            ++compared;
          }
        }
        EXPECT_EQ(compared, sink.all.size());
      }
    }
    nn::Context context = loaded.context();
    const Sequences longest = sequences_of(reference.tensor("input.long_source"), padding);
    expect_rows(loaded.transformer->encode(context, longest).value(),
                reference.tensor("expected.long_memory"), longest.offsets,
                reference.tolerance("expected.long_memory", "float32"), "a very long sentence");
  }
}

template <typename T>
void follow_training(const ReferenceCase& reference) {
  const auto& settings = reference.hyperparameters();
  Loaded loaded((reference.folder() / "model").string(), DTypeOf<T>::value);
  const nn::ParameterTable& table = loaded.model.model->table();
  const Sequences source = sequences_of(reference.tensor("input.source"), loaded.transformer->padding_id());
  const Sequences labels = sequences_of(reference.tensor("input.labels"), -100);
  const Sequences input = shifted_right(labels, loaded.transformer->start_id());
  const std::vector<double> losses = reference.tensor("expected.losses").to_vector<double>();
  const auto& tolerances = reference.json().at("parameters");
  nn::ParameterArray m(table, DTypeOf<T>::value), v(table, DTypeOf<T>::value);
  size_t compared = 0;
  for (size_t step = 0; step < losses.size(); ++step) {
    nn::ParameterArray gradients(table, DTypeOf<T>::value);
    Tape tape;
    nn::Context context = loaded.context();
    context.tape = &tape;
    context.gradients = &gradients;
    const auto loss = loaded.transformer->loss(
        context, source, input, labels.ids,
        {.smoothing = settings.at("smoothing"), .scale = 1 / static_cast<double>(labels.ids.size())});
    tape.backward(loss.loss);
    EXPECT_EQ(loss.tokens, static_cast<int64_t>(labels.ids.size()));
    EXPECT_NEAR(loss.loss_sum / static_cast<double>(loss.tokens), losses[step], 2e-5);  // as the case says
    for (int row = 0; row < table.size() && step == 0; ++row) {
      if (!table[row].trained) continue;
      const std::string name = table[row].name;
      expect_close(gradients.view(table, {row, 1}), reference.tensor("gradient." + name),
                   tolerances.at(name).at("gradient_tolerance"), "gradient of " + name);
      ++compared;
    }
    adam({.size = table.elements(),
          .weights = loaded.values.flat().data<T>(),
          .m = m.flat().data<T>(),
          .v = v.flat().data<T>(),
          .gradients = gradients.flat().data<T>(),
          .rate = settings.at("rate"),
          .beta1 = settings.at("beta1"),
          .beta2 = settings.at("beta2"),
          .epsilon = settings.at("eps"),
          .n = static_cast<int64_t>(step) + 1});
  }
  EXPECT_EQ(compared, tolerances.size());
  for (int row = 0; row < table.size(); ++row) {
    const std::string name = table[row].name;
    if (!table[row].trained || !tolerances.at(name).contains("after_tolerance")) continue;
    expect_close(loaded.values.view(table, {row, 1}), reference.tensor("after." + name),
                 tolerances.at(name).at("after_tolerance"), name + " after all steps");
  }
}

TEST(TransformerReference, LossGradientsAndSteps) {
  const auto cases = fixture_cases("marian");
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  const ReferenceCase reference("marian", "train_step");
  follow_training<float>(reference);
  follow_training<double>(reference);
}

}  // namespace
}  // namespace heed
