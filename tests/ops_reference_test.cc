// Single operations against torch.nn.functional, values and derivatives.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nn/positions/sinusoids.h"
#include "ops/attention/attention.h"
#include "ops/cross_entropy.h"
#include "ops/elementwise.h"
#include "ops/embedding.h"
#include "ops/norms/batch_norm.h"
#include "ops/norms/layer_norm.h"
#include "ops/norms/rms_norm.h"
#include "reference.h"

namespace heed {
namespace {

/// Common steps of all cases: a tape, leaves in the requested precision, and comparison.
class CaseRun {
 public:
  CaseRun(const ReferenceCase& reference, DType dtype) : reference_(reference), dtype_(dtype) {}

  Var leaf(const std::string& name) {
    Var variable = tape_.leaf(reference_.tensor(name, dtype_));
    leaves_[name.substr(name.find('.') + 1)] = variable;
    return variable;
  }
  void expect(const std::string& name, const Tensor& actual) const {
    expect_close(actual, reference_.tensor(name), reference_.tolerance(name, dtype_),
                 reference_.name() + " " + name + " in " + name_of(dtype_));
  }
  /// Runs the backward pass from `output` and compares the gradients of all leaves; their names in the case
  /// end in `suffix`.
  void backward(const Var& output, const Tensor& upstream, const std::string& suffix = "") {
    tape_.backward(output, upstream);
    for (const auto& [name, variable] : leaves_)
      expect(fmt::format("gradient.{}{}", name, suffix), tape_.gradient(variable));
  }
  /// Checks a case with one output: expected.output and all gradients.
  void finish(const Var& output) {
    expect("expected.output", output.value());
    backward(output, reference_.tensor("upstream.output", dtype_));
  }

 private:
  const ReferenceCase& reference_;
  DType dtype_;
  Tape tape_;
  std::map<std::string, Var> leaves_;
};

/// Calls body(case, type) for each case with a prefix, in both precisions.
template <typename Body>
void for_each_case(const std::string& prefix, const Body& body) {
  const auto cases = fixture_cases(prefix);
  if (cases.empty()) GTEST_SKIP() << missing_fixtures();
  for (const std::string& name : cases) {
    const ReferenceCase reference(name);
    for (const DType dtype : {DType::kFloat32, DType::kFloat64}) body(reference, dtype);
  }
}

TEST(OpsReference, Activations) {
  const std::map<std::string, Activation> functions{
      {"relu", Activation::kRelu},  {"gelu_erf", Activation::kGelu}, {"gelu_tanh", Activation::kGeluTanh},
      {"silu", Activation::kSwish}, {"tanh", Activation::kTanh},     {"sigmoid", Activation::kSigmoid}};
  for (const auto& [name, function] : functions) {
    for_each_case("ops/" + name, [&, activation = function](const ReferenceCase& reference, DType dtype) {
      CaseRun run(reference, dtype);
      run.finish(ops::activate(activation, run.leaf("input.x")));
    });
  }
}

TEST(OpsReference, LayerNorm) {
  for_each_case("ops/layer_norm", [](const ReferenceCase& reference, DType dtype) {
    CaseRun run(reference, dtype);
    run.finish(ops::layer_norm(run.leaf("input.x"), run.leaf("parameter.weight"), run.leaf("parameter.bias"),
                               reference.hyperparameters().at("eps")));
  });
}

TEST(OpsReference, RmsNorm) {
  for_each_case("ops/rms_norm", [](const ReferenceCase& reference, DType dtype) {
    CaseRun run(reference, dtype);
    run.finish(ops::rms_norm(run.leaf("input.x"), run.leaf("parameter.weight"),
                             {.epsilon = reference.hyperparameters().at("eps")}));
  });
}

TEST(OpsReference, BatchNorm) {
  for (const std::string mode : {"train", "eval"}) {
    for_each_case("ops/batch_norm_" + mode, [](const ReferenceCase& reference, DType dtype) {
      const auto& settings = reference.hyperparameters();
      CaseRun run(reference, dtype);
      ops::RunningMoments running{reference.tensor("input.running_mean", dtype),
                                  reference.tensor("input.running_variance", dtype)};
      run.finish(ops::batch_norm(run.leaf("input.x"), run.leaf("parameter.weight"),
                                 run.leaf("parameter.bias"), running,
                                 {.epsilon = settings.at("eps"),
                                  .momentum = settings.at("momentum"),
                                  .training = settings.at("training")}));
      run.expect("expected.running_mean", running.mean);
      run.expect("expected.running_variance", running.variance);
    });
  }
}

TEST(OpsReference, Softmax) {
  for_each_case("ops/softmax", [](const ReferenceCase& reference, DType dtype) {
    CaseRun run(reference, dtype);
    const Var scores = run.leaf("input.scores");  // (B, H, Tq, Tk)
    ops::AttentionMask mask;
    mask.visible = reference.tensor("input.visible");
    mask.bias = run.leaf("input.bias");
    const auto layout = ops::AttentionLayout::padded(scores.dim(0), scores.dim(2), scores.dim(3));
    run.finish(ops::attention_softmax(scores, layout, static_cast<int>(scores.dim(1)), mask));
  });
}

TEST(OpsReference, CrossEntropy) {
  for_each_case("ops/cross_entropy", [](const ReferenceCase& reference, DType dtype) {
    const auto& settings = reference.hyperparameters();
    const Tensor targets = reference.tensor("input.targets", DType::kInt32);
    const int32_t ignored = settings.at("ignored_index");
    double kept = 0;
    for (const int32_t target : targets.to_vector<int32_t>()) kept += target != ignored ? 1 : 0;
    struct Kind {
      double smoothing;
      bool others;
      std::string mean, gradient;
    };
    const double smoothing = settings.at("smoothing");
    for (const Kind& kind :
         {Kind{smoothing, false, "loss", ""}, Kind{0, false, "loss_without_smoothing", "_without_smoothing"},
          Kind{smoothing, true, "loss_others", "_others"}}) {
      CaseRun run(reference, dtype);
      const Var losses =
          ops::cross_entropy(run.leaf("input.logits"), targets, {kind.smoothing, kind.others, ignored});
      double sum = 0;
      for (const double loss : losses.value().to_vector<double>()) sum += loss;
      run.expect("expected." + kind.mean, Tensor::from<double>({sum / kept}, {1}));
      if (kind.mean == "loss") {
        run.expect("expected.loss_sum", Tensor::from<double>({sum}, {1}));
        run.expect("expected.loss_per_token", losses.value());
      }
      const std::vector<double> share(static_cast<size_t>(targets.size()), 1 / kept);  // of the mean
      run.backward(losses, Tensor::from(share, targets.shape()).to(dtype), kind.gradient);
    }
  });
}

TEST(OpsReference, Embedding) {
  for_each_case("ops/embedding", [](const ReferenceCase& reference, DType dtype) {
    const auto& settings = reference.hyperparameters();
    for (const bool padding : {false, true}) {
      CaseRun run(reference, dtype);
      ops::EmbeddingOptions options;
      options.scale = settings.at("scale");
      if (padding) options.padding_id = settings.at("padding_id");
      const Var y =
          ops::embedding(run.leaf("parameter.table"), reference.tensor("input.ids", DType::kInt32), options);
      run.expect("expected.output", y.value());
      run.backward(y, reference.tensor("upstream.output", dtype), padding ? "_with_padding" : "");
    }
  });
}

TEST(OpsReference, SinusoidalPositions) {
  for_each_case("ops/sinusoidal_positions", [](const ReferenceCase& reference, DType dtype) {
    const std::vector<int64_t> places = reference.tensor("input.positions").to_vector<int64_t>();
    const int64_t width = reference.hyperparameters().at("D");
    for (const auto& [name, layout] : {std::pair{"expected.interleaved", SinusoidLayout::kInterleaved},
                                       std::pair{"expected.halves", SinusoidLayout::kHalves}}) {
      const int64_t count = *std::max_element(places.begin(), places.end()) + 1;
      const Tensor table = nn::sinusoid_table(count, width, layout, dtype), expected = reference.tensor(name);
      for (size_t n = 0; n < places.size(); ++n) {
        expect_close(table.narrow(0, places[n], 1).clone(),
                     expected.narrow(0, static_cast<int64_t>(n), 1).clone(), reference.tolerance(name, dtype),
                     name + std::string(", position ") + std::to_string(places[n]));
      }
    }
  });
}

}  // namespace
}  // namespace heed
