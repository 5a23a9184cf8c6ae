#include "data/align/hmm_aligner.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace heed {
namespace {

// Longer jumps share one weight per direction.
constexpr int64_t kMaxJump = 7;
// Weight u of the uniform jump distribution.
constexpr double kUniform = 0.15;
// Probability of token pairs that never co-occurred.
constexpr double kUnseen = 1e-7;
// Sentence pairs per work item.
constexpr size_t kPairsPerBlock = 256;

// Expected counts in fixed point: sums of integers do not depend on their order. 2^-26 is far below any count
// that matters, and 2^38 counts fit.
constexpr double kUnit = 1.0 / (1 << 26);

void add_count(uint64_t& sum, double count) {
  std::atomic_ref<uint64_t>(sum).fetch_add(static_cast<uint64_t>(count / kUnit + 0.5),
                                           std::memory_order_relaxed);
}

}  // namespace

/// The tables of one sentence pair: I source and J target tokens without end tokens. State i is aligned to
/// source token i; state I + i is the null state after source token i.
struct HmmAligner::Lattice {
  size_t sources = 0, targets = 0;
  std::vector<double> emission;  // (J, I + 1): t(target_j | source_i), the last column that of the end token
  std::vector<size_t> entries;   // (J, I + 1): indices in the table; its size for unknown pairs
  std::vector<double> transition;  // (I + 1, I): p(i | i'), row 0 from the beginning, row i' + 1 from i'
  std::vector<double> forward, backward;  // (J, 2 I)

  double emitted(size_t j, size_t state) const {
    return emission[j * (sources + 1) + std::min(state, sources)];
  }
  double moved(size_t from_row, size_t to) const { return transition[from_row * sources + to]; }
  /// The row of `transition` of a state.
  size_t row_of(size_t state) const { return 1 + (state < sources ? state : state - sources); }
};

HmmAligner::HmmAligner(const Sequences& sources, const Sequences& targets, int64_t vocabulary,
                       ThreadPool& pool, const HmmAlignerOptions& options)
    : options_(options), table_(sources, targets, vocabulary, 0) {
  int done = 0;
  const auto report = [&] {
    if (options_.progress)
      options_.progress(++done / static_cast<double>(options.model1_iterations + options.iterations));
  };
  for (int n = 0; n < options.model1_iterations; ++n) {
    improve_model1(sources, targets, pool);
    report();
  }
  // Initially a jump of 1 is most probable, and the others decrease symmetrically.
  for (int64_t d = -kMaxJump; d <= kMaxJump; ++d)
    jumps_.push_back(std::exp(-0.5 * static_cast<double>(std::abs(d - 1))));
  for (int n = 0; n < options.iterations; ++n) {
    improve(sources, targets, pool);
    report();
  }
}

/// One iteration of model 1: all source tokens, including the end token, are equally probable a priori.
void HmmAligner::improve_model1(const Sequences& sources, const Sequences& targets, ThreadPool& pool) {
  std::vector<uint64_t> counts(table_.size());
  const auto pairs = static_cast<size_t>(sources.count());
  pool.run((pairs + kPairsPerBlock - 1) / kPairsPerBlock, [&](size_t block) {
    options_.stop.check();
    std::vector<size_t> entries;
    for (size_t n = block * kPairsPerBlock; n < std::min(pairs, (block + 1) * kPairsPerBlock); ++n) {
      const auto source = sources[static_cast<int>(n)], target = targets[static_cast<int>(n)];
      for (const int32_t word : target) {
        entries.clear();
        double sum = 0;
        for (const int32_t from : source) {
          entries.push_back(table_.find(from, word));
          sum += static_cast<double>(table_.probability(entries.back()));
        }
        if (!(sum > 0)) continue;
        for (const size_t entry : entries)
          add_count(counts[entry], static_cast<double>(table_.probability(entry)) / sum);
      }
    }
  });
  table_.set_counts(counts);
}

double HmmAligner::jump(int64_t distance) const {
  return jumps_[static_cast<size_t>(std::clamp(distance, -kMaxJump, kMaxJump) + kMaxJump)];
}

void HmmAligner::fill(Lattice& l, std::span<const int32_t> source, std::span<const int32_t> target) const {
  l.sources = source.size() - 1;
  l.targets = target.size() - 1;
  const size_t columns = l.sources + 1;
  l.emission.resize(l.targets * columns);
  l.entries.resize(l.targets * columns);
  for (size_t j = 0; j < l.targets; ++j) {
    for (size_t i = 0; i < columns; ++i) {
      const size_t entry = table_.find(source[i], target[j]);
      l.entries[j * columns + i] = entry;
      const double t = entry < table_.size() ? static_cast<double>(table_.probability(entry)) : 0;
      l.emission[j * columns + i] = std::max(t, kUnseen);
    }
  }
  l.transition.resize(columns * l.sources);
  const double rest = 1 - options_.null_probability, uniform = rest / static_cast<double>(l.sources);
  std::fill_n(l.transition.begin(), l.sources, uniform);  // uniform for the first target token
  for (size_t row = 1; row < columns; ++row) {
    double* moved = &l.transition[row * l.sources];
    double sum = 0;
    for (size_t i = 0; i < l.sources; ++i)
      sum += moved[i] = jump(static_cast<int64_t>(i) - (static_cast<int64_t>(row) - 1));
    for (size_t i = 0; i < l.sources; ++i)
      moved[i] = kUniform * uniform + (1 - kUniform) * rest * moved[i] / sum;
  }
}

/// One EM iteration: forward-backward with scaling to a sum of 1 at each target token.
void HmmAligner::improve(const Sequences& sources, const Sequences& targets, ThreadPool& pool) {
  std::vector<uint64_t> counts(table_.size()), jump_counts(jumps_.size());
  const auto pairs = static_cast<size_t>(sources.count());
  const double p0 = options_.null_probability;
  pool.run((pairs + kPairsPerBlock - 1) / kPairsPerBlock, [&](size_t block) {
    options_.stop.check();
    Lattice l;
    std::vector<double> scale;
    for (size_t n = block * kPairsPerBlock; n < std::min(pairs, (block + 1) * kPairsPerBlock); ++n) {
      const auto source = sources[static_cast<int>(n)], target = targets[static_cast<int>(n)];
      if (source.size() < 2 || target.size() < 2) continue;
      fill(l, source, target);
      const size_t count = l.sources, states = 2 * count;
      l.forward.assign(l.targets * states, 0);
      l.backward.assign(l.targets * states, 0);
      scale.assign(l.targets, 0);
      for (size_t j = 0; j < l.targets; ++j) {
        double* now = &l.forward[j * states];
        if (j == 0) {
          for (size_t i = 0; i < count; ++i) now[i] = l.moved(0, i);
          now[count] = p0;  // null state at the beginning: as after the first token
        } else {
          const double* before = &l.forward[(j - 1) * states];
          for (size_t from = 0; from < count; ++from) {
            const double mass = before[from] + before[count + from];
            now[count + from] = mass * p0;
            for (size_t i = 0; i < count; ++i) now[i] += mass * l.moved(from + 1, i);
          }
        }
        for (size_t s = 0; s < states; ++s) scale[j] += now[s] *= l.emitted(j, s);
        for (size_t s = 0; s < states; ++s) now[s] /= scale[j];
      }
      std::vector<double> reached(states);
      for (size_t j = l.targets; j-- > 0;) {
        double* now = &l.backward[j * states];
        if (j + 1 == l.targets) {
          std::fill_n(now, states, 1.0);
        } else {
          const double* after = &l.backward[(j + 1) * states];
          for (size_t s = 0; s < states; ++s) reached[s] = after[s] * l.emitted(j + 1, s) / scale[j + 1];
          const double* before = &l.forward[j * states];
          for (size_t from = 0; from < count; ++from) {
            double sum = p0 * reached[count + from];
            const double mass = before[from] + before[count + from];
            for (size_t i = 0; i < count; ++i) {
              const double moved = l.moved(from + 1, i) * reached[i];
              sum += moved;
              if (mass * moved > 1e-6) {
                const int64_t distance = std::clamp<int64_t>(
                    static_cast<int64_t>(i) - static_cast<int64_t>(from), -kMaxJump, kMaxJump);
                add_count(jump_counts[static_cast<size_t>(distance + kMaxJump)], mass * moved);
              }
            }
            now[from] = now[count + from] = sum;
          }
        }
        for (size_t s = 0; s < states; ++s) {
          const double posterior = l.forward[j * states + s] * now[s];
          const size_t entry = l.entries[j * (count + 1) + std::min(s, count)];
          if (posterior > 1e-6 && entry < table_.size()) add_count(counts[entry], posterior);
        }
      }
    }
  });
  table_.set_counts(counts);
  double sum = 0;
  for (const uint64_t each : jump_counts) sum += static_cast<double>(each) * kUnit;
  if (sum == 0) return;  // no pair has two target tokens
  // The weights at both ends are shared by all longer jumps.
  for (size_t d = 0; d < jumps_.size(); ++d) {
    const double ends = d == 0 || d + 1 == jumps_.size() ? 3 : 1;
    jumps_[d] = (static_cast<double>(jump_counts[d]) * kUnit / sum + 1e-4) / ends;
  }
}

std::vector<int> HmmAligner::align(std::span<const int32_t> source, std::span<const int32_t> target) const {
  if (target.size() < 2) return {};
  if (source.size() < 2) return std::vector<int>(target.size() - 1, -1);
  Lattice l;
  fill(l, source, target);
  const size_t count = l.sources, states = 2 * count;
  const double p0 = options_.null_probability;
  std::vector<double> best(states), next(states);
  std::vector<int32_t> from(l.targets * states, 0);
  for (size_t j = 0; j < l.targets; ++j) {
    std::fill(next.begin(), next.end(), 0.0);
    if (j == 0) {
      for (size_t i = 0; i < count; ++i) next[i] = l.moved(0, i);
      next[count] = p0;
    } else {
      for (size_t before = 0; before < count; ++before) {
        const size_t state = best[before] >= best[count + before] ? before : count + before;
        if (best[state] * p0 > next[count + before]) {
          next[count + before] = best[state] * p0;
          from[j * states + count + before] = static_cast<int32_t>(state);
        }
        for (size_t i = 0; i < count; ++i) {
          const double reached = best[state] * l.moved(before + 1, i);
          if (reached > next[i]) {
            next[i] = reached;
            from[j * states + i] = static_cast<int32_t>(state);
          }
        }
      }
    }
    double largest = 0;
    for (size_t s = 0; s < states; ++s) largest = std::max(largest, next[s] *= l.emitted(j, s));
    for (double& value : next) value /= largest;
    best.swap(next);
  }
  auto state = static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin());
  std::vector<int> links(l.targets);
  for (size_t j = l.targets; j-- > 0;) {
    links[j] = state < count ? static_cast<int>(state) : -1;
    state = static_cast<size_t>(from[j * states + state]);
  }
  return links;
}

HmmAlignerOptions TwoWayAligner::half(HmmAlignerOptions options, double begin) {
  if (options.progress) {
    options.progress = [all = options.progress, begin](double fraction) { all(begin + fraction / 2); };
  }
  return options;
}

TwoWayAligner::Links TwoWayAligner::align(std::span<const int32_t> source,
                                          std::span<const int32_t> target) const {
  Links links;
  const std::vector<int> of_targets = forward_.align(source, target),
                         of_sources = backward_.align(target, source);
  for (int t = 0; t < std::ssize(of_targets); ++t) {
    const int s = of_targets[static_cast<size_t>(t)];
    if (s >= 0) links.forward.emplace_back(s, t);
  }
  for (int s = 0; s < std::ssize(of_sources); ++s) {
    const int t = of_sources[static_cast<size_t>(s)];
    if (t >= 0) links.backward.emplace_back(s, t);
  }
  return links;
}

}  // namespace heed
