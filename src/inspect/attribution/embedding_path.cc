#include "inspect/attribution/embedding_path.h"

#include <algorithm>
#include <array>
#include <utility>

#include "models/finite_output.h"

namespace heed {
namespace {

/// Records the embeddings of tokens.
class EmbeddingRecorder : public nn::StateHook {
 public:
  bool wants(nn::StateKind kind) const override { return kind == nn::StateKind::kTokens; }
  Var pass(const nn::StateId& id, const Var& state) override {
    if (id.kind == nn::StateKind::kTokens) recorded.of(id.stack) = state.value();
    return state;
  }
  StackEmbeddings recorded;
};

/// Replaces the embeddings of a batch of copies of a sequence, or of the beginning of it, by points of a
/// path; with a tape, they are leaves of it.
class PathHook : public nn::StateHook {
 public:
  /// Without `from`, all copies keep their embeddings.
  PathHook(const StackEmbeddings* from, std::vector<double> positions, Tape* tape)
      : from_(from), positions_(std::move(positions)), tape_(tape) {}

  bool wants(nn::StateKind kind) const override { return kind == nn::StateKind::kTokens; }
  Var pass(const nn::StateId& id, const Var& state) override {
    if (id.kind != nn::StateKind::kTokens) return state;
    Tensor points = state.value().clone();  // (copies tokens, D)
    if (from_ != nullptr) move(from_->of(id.stack), points);
    if (tape_ == nullptr) return points;
    return variables_[id.stack == Stack::kEncoder ? 0 : 1] = tape_->leaf(points);
  }
  const Var& variable(Stack stack) const { return variables_[stack == Stack::kEncoder ? 0 : 1]; }

 private:
  /// points = from + position (points - from), copy by copy.
  void move(const Tensor& from, Tensor& points) const {
    const int64_t size = points.size() / static_cast<int64_t>(positions_.size());
    float* to = points.data<float>();
    for (const double position : positions_) {
      for (int64_t i = 0; i < size; ++i, ++to) {
        const double begin = static_cast<double>(from.data<float>()[i]);
        *to = static_cast<float>(begin + position * (static_cast<double>(*to) - begin));
      }
    }
  }

  const StackEmbeddings* from_;
  std::vector<double> positions_;
  Tape* tape_;
  std::array<Var, 2> variables_;
};

StackEmbeddings embeddings_of(const DifferentiableModel& model, const ModelInput& input) {
  EmbeddingRecorder recorder;
  nn::Context context = model.context();
  context.states = &recorder;
  run_stacks(model.model(), context, input);
  return recorder.recorded;
}

std::vector<int32_t> replaced(std::vector<int32_t> ids, const std::vector<bool>& special, int32_t id) {
  for (size_t n = 0; n < ids.size(); ++n) {
    if (!special[n] && id >= 0) ids[n] = id;
  }
  return ids;
}

/// Zeros in place of the tokens that are not special.
void clear(const std::vector<bool>& special, Tensor& embeddings) {
  if (!embeddings.defined()) return;
  embeddings = embeddings.clone();
  const int64_t width = embeddings.dim(1);
  for (size_t n = 0; n < special.size(); ++n) {
    if (!special[n]) std::fill_n(embeddings.data<float>() + static_cast<int64_t>(n) * width, width, 0.0F);
  }
}

Tensor difference(const Tensor& a, const Tensor& b) {
  if (!a.defined()) return {};
  Tensor steps = a.clone();
  for (int64_t i = 0; i < steps.size(); ++i) steps.data<float>()[i] -= b.data<float>()[i];
  return steps;
}

double dot(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Appends gradient . steps of each token to the products of each copy. `tokens`: of a copy. A gradient that
/// is not defined, since f does not depend on the stack, is 0.
void append_products(const Tensor& gradient, const Tensor& steps, size_t tokens,
                     std::vector<std::vector<double>>& products) {
  for (size_t copy = 0; copy < products.size(); ++copy) {
    for (size_t token = 0; token < tokens; ++token) {
      const auto row = static_cast<int64_t>(copy * tokens + token);
      const int64_t width = steps.dim(1);
      products[copy].push_back(gradient.defined()
                                   ? dot(gradient.data<float>() + row * width,
                                         steps.data<float>() + static_cast<int64_t>(token) * width, width)
                                   : 0);
    }
  }
}

/// A forward pass over copies of the sequence that leads to a prediction, and the backward pass to its
/// embeddings.
class PathPass {
 public:
  /// As for PathHook. Throws kNumeric for NaN or infinity.
  PathPass(const DifferentiableModel& model, const Explained& explained, const StackEmbeddings* from,
           const std::vector<double>& positions)
      : explained_(explained), copies_(positions.size()), hook_(from, positions, &tape_) {
    nn::Context context = model.context();
    context.states = &hook_;
    values_ = predicted_values(model.model(), context, explained, copies_of(explained, copies_));
    models::require_finite_output(values_.value());
  }
  const Tensor& values() const { return values_.value(); }
  Tensor points(Stack stack) const {
    return hook_.variable(stack).defined() ? hook_.variable(stack).value() : Tensor();
  }
  /// df/dx . steps of each token, copy by copy; once.
  std::vector<std::vector<double>> products(const StackEmbeddings& steps) {
    tape_.backward(values_);
    std::vector<std::vector<double>> products(copies_);
    for (const Stack stack : {Stack::kEncoder, Stack::kDecoder}) {
      if (!hook_.variable(stack).defined()) continue;
      const size_t tokens =
          stack == Stack::kEncoder ? explained_.source_ids.size() : explained_.decoder_ids.size();
      append_products(tape_.gradient(hook_.variable(stack)), steps.of(stack), tokens, products);
    }
    return products;
  }

 private:
  const Explained& explained_;
  size_t copies_;
  Tape tape_;
  PathHook hook_;
  Var values_;
};

}  // namespace

EmbeddingPath::EmbeddingPath(const DifferentiableModel& model, const Reading& reading,
                             const PathBaseline& baseline)
    : model_(model), reading_(reading) {
  const StackEmbeddings whole = embeddings_of(model, reading.input());
  Reading begin = reading;
  begin.source_ids = replaced(reading.source_ids, reading.source_special, baseline.source_id);
  begin.decoder_ids = replaced(reading.decoder_ids, reading.decoder_special, baseline.target_id);
  from_ = embeddings_of(model, begin.input());
  if (baseline.source_id < 0) clear(reading.source_special, from_.encoder);
  if (baseline.target_id < 0) clear(reading.decoder_special, from_.decoder);
  steps_ = {difference(whole.encoder, from_.encoder), difference(whole.decoder, from_.decoder)};
}

std::vector<std::vector<double>> EmbeddingPath::values(const std::vector<double>& positions,
                                                       const std::vector<size_t>& chosen,
                                                       int32_t other) const {
  const ModelInput batch = copies_of(reading_.input(), positions.size());
  const Sequences& predicting = batch.target.count() > 0 ? batch.target : batch.source;
  PredictedTokens tokens{.other = other};
  for (int copy = 0; copy < predicting.count(); ++copy) {
    for (const size_t n : chosen) {
      tokens.rows.push_back(predicting.offsets[copy] + reading_.rows[n]);
      tokens.ids.push_back(reading_.target_ids[n]);
    }
  }
  PathHook hook(&from_, positions, nullptr);
  nn::Context context = model_.context();
  context.states = &hook;
  const Tensor found = log_probabilities(model_.model(), context, batch, tokens).value();
  models::require_finite_output(found);
  const std::vector<double> flat = found.to_vector<double>();
  std::vector<std::vector<double>> values(positions.size());
  for (size_t n = 0; n < flat.size(); ++n) values[n / chosen.size()].push_back(flat[n]);
  return values;
}

std::vector<std::vector<double>> EmbeddingPath::derivatives(const std::vector<double>& positions,
                                                            const Explained& explained) const {
  return PathPass(model_, explained, &from_, positions).products(steps_);
}

GradientAtText gradient_at_text(const DifferentiableModel& model, const Explained& explained) {
  PathPass pass(model, explained, nullptr, {1});
  const double value = pass.values().to_vector<double>()[0];
  const StackEmbeddings points{pass.points(Stack::kEncoder), pass.points(Stack::kDecoder)};
  return {pass.products(points)[0], value};
}

}  // namespace heed
