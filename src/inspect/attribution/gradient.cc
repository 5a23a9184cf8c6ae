#include "inspect/attribution/gradient.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "inspect/attribution/quadrature.h"
#include "models/finite_output.h"

namespace heed {
namespace {

/// The embeddings of a sequence (tokens, D), of the encoder and of the decoder; undefined for a stack that is
/// not there.
struct StackEmbeddings {
  Tensor encoder, decoder;
  Tensor& of(Stack stack) { return stack == Stack::kEncoder ? encoder : decoder; }
  const Tensor& of(Stack stack) const { return stack == Stack::kEncoder ? encoder : decoder; }
};

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

/// Replaces the embeddings of a batch of copies by points of the path, as leaves of a tape.
class PathHook : public nn::StateHook {
 public:
  /// Without `from`, all copies keep their embeddings. `positions`: of the copies, from 0 to 1.
  PathHook(Tape& tape, const StackEmbeddings* from, std::vector<double> positions)
      : tape_(tape), from_(from), positions_(std::move(positions)) {}

  bool wants(nn::StateKind kind) const override { return kind == nn::StateKind::kTokens; }
  Var pass(const nn::StateId& id, const Var& state) override {
    if (id.kind != nn::StateKind::kTokens) return state;
    Tensor points = state.value().clone();
    if (from_ != nullptr) move(from_->of(id.stack), points);
    leaves_.of(id.stack) = points;
    return variables_[id.stack == Stack::kEncoder ? 0 : 1] = tape_.leaf(points);
  }
  const Tensor& points(Stack stack) const { return leaves_.of(stack); }
  /// After the backward pass; undefined for a stack that is not there, or that f does not depend on.
  Tensor gradient(Stack stack) const {
    const Var& variable = variables_[stack == Stack::kEncoder ? 0 : 1];
    return variable.defined() ? tape_.gradient(variable) : Tensor();
  }

 private:
  /// points = from + position (points - from), copy by copy.
  void move(const Tensor& from, Tensor& points) const {
    const int64_t size = from.size();
    float* to = points.data<float>();
    for (const double position : positions_) {
      for (int64_t i = 0; i < size; ++i, ++to) {
        const double begin = static_cast<double>(from.data<float>()[i]);
        *to = static_cast<float>(begin + position * (static_cast<double>(*to) - begin));
      }
    }
  }

  Tape& tape_;
  const StackEmbeddings* from_;
  std::vector<double> positions_;
  StackEmbeddings leaves_;
  std::array<Var, 2> variables_;
};

/// A forward pass over copies of a sequence whose embeddings are points of a path, and its backward pass.
class PathPass {
 public:
  /// As for PathHook. Throws kNumeric for NaN or infinity.
  PathPass(const InspectedModel& model, const Explained& explained, const StackEmbeddings* from,
           const std::vector<double>& positions)
      : hook_(tape_, from, positions) {
    nn::Context context = float32_context(model);
    context.states = &hook_;
    values_ = predicted_values(model.model(), context, explained, copies_of(explained, positions.size()));
    models::require_finite_output(values_.value());
  }
  /// f of each copy.
  std::vector<double> values() const { return values_.value().to_vector<double>(); }
  /// Backpropagates the sum of f, with weights of the copies.
  const PathHook& backward(const std::vector<float>& weights) {
    tape_.backward(values_, Tensor::from(weights, values_.shape()));
    return hook_;
  }

 private:
  Tape tape_;
  PathHook hook_;
  Var values_;
};

double dot(const float* a, const float* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Adds to sums[n] the products of gradients and `steps` (tokens, D) of row n, over all copies.
void add_products(const Tensor& gradient, const Tensor& steps, std::vector<double>& sums) {
  if (!steps.defined()) return;
  sums.resize(static_cast<size_t>(steps.dim(0)));
  if (!gradient.defined()) return;
  const int64_t tokens = steps.dim(0), width = steps.dim(1);
  for (int64_t row = 0; row < gradient.dim(0); ++row) {
    const int64_t n = row % tokens;
    sums[static_cast<size_t>(n)] +=
        dot(gradient.data<float>() + row * width, steps.data<float>() + n * width, width);
  }
}

/// What the values of tokens are so far, in double precision.
struct StackSums {
  std::vector<double> encoder, decoder;
};

void add(const std::vector<double>& from, std::vector<double>& to) {
  to.resize(std::max(to.size(), from.size()));
  for (size_t n = 0; n < from.size(); ++n) to[n] += from[n];
}

/// An interval of the path, with the quadrature on it.
struct PathInterval {
  double begin = 0, end = 1;
  double begin_value = 0, end_value = 0;  ///< of f
  double middle_value = 0;
  StackSums sums{};

  /// By how much the quadrature differs from the change of f.
  double error() const {
    const double sum = std::accumulate(sums.encoder.begin(), sums.encoder.end(), 0.0) +
                       std::accumulate(sums.decoder.begin(), sums.decoder.end(), 0.0);
    return sum - (end_value - begin_value);
  }
};

/// The path of one prediction.
class IntegratedPath {
 public:
  IntegratedPath(const InspectedModel& model, const Explained& explained, const PathBaseline& baseline)
      : model_(model), explained_(explained) {
    const StackEmbeddings whole = embeddings_of(explained.source_ids, explained.decoder_ids);
    const auto replaced = [](std::vector<int32_t> ids, const std::vector<bool>& special, int32_t id) {
      for (size_t n = 0; n < ids.size(); ++n) {
        if (!special[n] && id >= 0) ids[n] = id;
      }
      return ids;
    };
    from_ = embeddings_of(replaced(explained.source_ids, explained.source_special, baseline.source_id),
                          replaced(explained.decoder_ids, explained.decoder_special, baseline.target_id));
    if (baseline.source_id < 0) clear(explained.source_special, from_.encoder);
    if (baseline.target_id < 0) clear(explained.decoder_special, from_.decoder);
    steps_ = {difference(whole.encoder, from_.encoder), difference(whole.decoder, from_.decoder)};
    const std::vector<double> ends = values_at({0, 1});
    intervals_.push_back({.begin_value = ends[0], .end_value = ends[1]});
    pending_ = {0};
  }

  /// The intervals to integrate next.
  const std::vector<size_t>& pending() const { return pending_; }
  /// Integrates one of them; thread-safe for different ones.
  void integrate(size_t index);
  /// After all pending ones: chooses which to divide. `tolerance` as in AttributionOptions.
  void refine(double tolerance);
  TokenAttribution result() const;

 private:
  double change() const { return intervals_.back().end_value - intervals_.front().begin_value; }
  StackEmbeddings embeddings_of(const std::vector<int32_t>& source,
                                const std::vector<int32_t>& target) const {
    Explained sequence = explained_;
    sequence.source_ids = source;
    sequence.decoder_ids = target;
    EmbeddingRecorder recorder;
    nn::Context context = float32_context(model_);
    context.states = &recorder;
    predicted_values(model_.model(), context, sequence, copies_of(sequence, 1));
    return recorder.recorded;
  }
  static void clear(const std::vector<bool>& special, Tensor& embeddings) {
    if (!embeddings.defined()) return;
    embeddings = embeddings.clone();
    const int64_t width = embeddings.dim(1);
    for (size_t n = 0; n < special.size(); ++n) {
      float* row = embeddings.data<float>() + static_cast<int64_t>(n) * width;
      if (!special[n]) std::fill_n(row, width, 0.0F);
    }
  }
  static Tensor difference(const Tensor& a, const Tensor& b) {
    if (!a.defined()) return {};
    Tensor steps = a.clone();
    for (int64_t i = 0; i < steps.size(); ++i) steps.data<float>()[i] -= b.data<float>()[i];
    return steps;
  }
  std::vector<double> values_at(const std::vector<double>& positions) const {
    return PathPass(model_, explained_, &from_, positions).values();
  }

  const InspectedModel& model_;
  const Explained& explained_;
  StackEmbeddings from_, steps_;
  std::vector<PathInterval> intervals_;  // in the order of the path
  std::vector<size_t> pending_;
  int evaluations_ = 2;
};

void IntegratedPath::integrate(size_t index) {
  PathInterval& interval = intervals_[index];
  const double half = (interval.end - interval.begin) / 2, middle = (interval.begin + interval.end) / 2;
  std::vector<double> positions;
  std::vector<float> weights;
  for (const QuadratureNode& node : kGaussLegendre) {
    positions.push_back(middle + half * node.position);
    weights.push_back(static_cast<float>(half * node.weight));
  }
  PathPass pass(model_, explained_, &from_, positions);
  interval.middle_value = pass.values()[kMiddleNode];
  const PathHook& hook = pass.backward(weights);
  add_products(hook.gradient(Stack::kEncoder), steps_.encoder, interval.sums.encoder);
  add_products(hook.gradient(Stack::kDecoder), steps_.decoder, interval.sums.decoder);
}

void IntegratedPath::refine(double tolerance) {
  constexpr double kLeastChange = 0.1;
  constexpr double kDividedShare = 0.25;
  constexpr size_t kMostIntervals = 256;
  evaluations_ += static_cast<int>(pending_.size() * kGaussLegendre.size());
  pending_.clear();
  double error = 0, largest = 0;
  for (const PathInterval& each : intervals_) {
    error += each.error();
    largest = std::max(largest, std::abs(each.error()));
  }
  const double allowed = tolerance * std::max(std::abs(change()), kLeastChange);
  if (std::abs(error) <= allowed || intervals_.size() >= kMostIntervals) return;
  // Only intervals with large errors are divided; the largest always is.
  const double small = largest * kDividedShare;
  std::vector<PathInterval> divided;
  for (const PathInterval& each : intervals_) {
    if (std::abs(each.error()) <= small) {
      divided.push_back(each);
      continue;
    }
    const double middle = (each.begin + each.end) / 2;
    pending_.push_back(divided.size());
    divided.push_back({each.begin, middle, each.begin_value, each.middle_value});
    pending_.push_back(divided.size());
    divided.push_back({middle, each.end, each.middle_value, each.end_value});
  }
  intervals_ = std::move(divided);
}

TokenAttribution IntegratedPath::result() const {
  StackSums sums;
  for (const PathInterval& each : intervals_) {
    add(each.sums.encoder, sums.encoder);
    add(each.sums.decoder, sums.decoder);
  }
  TokenAttribution found;
  found.values = attribution_values(explained_, sums.encoder, sums.decoder);
  found.sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
  found.log_probability = intervals_.back().end_value;
  found.difference = change();
  found.evaluations = evaluations_;
  return found;
}

}  // namespace

TokenAttribution gradient_times_input(const InspectedModel& model, const Explained& explained) {
  PathPass pass(model, explained, nullptr, {1});
  TokenAttribution found;
  found.log_probability = pass.values()[0];
  found.evaluations = 1;
  const PathHook& hook = pass.backward({1});
  StackSums sums;
  add_products(hook.gradient(Stack::kEncoder), hook.points(Stack::kEncoder), sums.encoder);
  add_products(hook.gradient(Stack::kDecoder), hook.points(Stack::kDecoder), sums.decoder);
  found.values = attribution_values(explained, sums.encoder, sums.decoder);
  found.sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
  return found;
}

std::vector<TokenAttribution> integrated_gradients(const InspectedModel& model,
                                                   const std::vector<Explained>& all,
                                                   const PathBaseline& baseline, double tolerance,
                                                   ThreadPool& pool) {
  std::vector<std::unique_ptr<IntegratedPath>> paths(all.size());
  pool.run(all.size(),
           [&](size_t n) { paths[n] = std::make_unique<IntegratedPath>(model, all[n], baseline); });
  for (;;) {
    std::vector<std::pair<size_t, size_t>> work;  // path, interval
    for (size_t n = 0; n < paths.size(); ++n) {
      for (const size_t interval : paths[n]->pending()) work.emplace_back(n, interval);
    }
    if (work.empty()) break;
    pool.run(work.size(), [&](size_t n) { paths[work[n].first]->integrate(work[n].second); });
    for (const auto& path : paths) {
      if (!path->pending().empty()) path->refine(tolerance);
    }
  }
  std::vector<TokenAttribution> found;
  for (const auto& path : paths) found.push_back(path->result());
  return found;
}

}  // namespace heed
