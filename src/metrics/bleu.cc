#include "metrics/bleu.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "metrics/metric.h"
#include "metrics/ngrams.h"

namespace heed {
namespace {

constexpr std::array<std::pair<BleuSmoothing, std::string_view>, 4> kSmoothingNames{
    {{BleuSmoothing::kExp, "exp"},
     {BleuSmoothing::kFloor, "floor"},
     {BleuSmoothing::kAddK, "add-k"},
     {BleuSmoothing::kNone, "none"}}};

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::kFloor ? 0.1 : 1.0);
}

/// N-gram counts of one sentence, or their sums.
struct BleuCounts {
  explicit BleuCounts(size_t orders) : matches(orders), totals(orders) {}
  std::vector<int64_t> matches, totals;  // by order
  int64_t hypothesis_length = 0, reference_length = 0;

  BleuCounts& operator+=(const BleuCounts& other) {
    for (size_t n = 0; n < totals.size(); ++n) {
      matches[n] += other.matches[n];
      totals[n] += other.totals[n];
    }
    hypothesis_length += other.hypothesis_length;
    reference_length += other.reference_length;
    return *this;
  }
};

/// The reference length closest to the hypothesis; the shorter of ties.
int64_t closest_length(int64_t length, const std::vector<std::u32string>& references) {
  int64_t closest = static_cast<int64_t>(references.front().size());
  for (const std::u32string& reference : references) {
    const auto candidate = static_cast<int64_t>(reference.size());
    const int64_t distance = std::abs(candidate - length), best = std::abs(closest - length);
    if (distance < best || (distance == best && candidate < closest)) closest = candidate;
  }
  return closest;
}

BleuCounts count_sentence(const std::string& hypothesis, const std::vector<std::string>& references,
                          const BleuOptions& options) {
  WordNumbers words;
  const auto symbols = [&](const std::string& text) {
    return words.number(tokenize_for_bleu(options.lowercase ? lower_case(text) : text, options.tokenizer,
                                          options.pieces ? &*options.pieces : nullptr));
  };
  const std::u32string candidate = symbols(hypothesis);
  std::vector<std::u32string> truths;
  for (const std::string& reference : references) truths.push_back(symbols(reference));

  BleuCounts counts(static_cast<size_t>(options.max_order));
  counts.hypothesis_length = static_cast<int64_t>(candidate.size());
  counts.reference_length = closest_length(counts.hypothesis_length, truths);
  for (size_t order = 1; order <= counts.totals.size(); ++order) {
    NgramCounts most;  // maximum count of each n-gram over the references
    for (const std::u32string& truth : truths) {
      for (const auto& [ngram, count] : count_ngrams(truth, order)) {
        int64_t& kept = most[ngram];
        kept = std::max(kept, count);
      }
    }
    for (const auto& [ngram, count] : count_ngrams(candidate, order)) {
      counts.totals[order - 1] += count;
      if (const auto found = most.find(ngram); found != most.end()) {
        counts.matches[order - 1] += std::min(count, found->second);
      }
    }
  }
  return counts;
}

BleuScore score_counts(const BleuCounts& counts, const BleuOptions& options) {
  BleuScore result;
  result.counts.assign(counts.matches.begin(), counts.matches.end());
  result.totals.assign(counts.totals.begin(), counts.totals.end());
  result.precisions.assign(counts.totals.size(), 0.0);
  result.hypothesis_length = counts.hypothesis_length;
  result.reference_length = counts.reference_length;
  const auto c = static_cast<double>(counts.hypothesis_length),
             r = static_cast<double>(counts.reference_length);
  if (c < r) result.brevity_penalty = c > 0 ? std::exp(1 - r / c) : 0.0;
  // Without any match the score is 0, even with smoothing.
  if (std::all_of(counts.matches.begin(), counts.matches.end(), [](int64_t m) { return m == 0; }))
    return result;

  size_t effective_order = result.totals.size();
  double halving = 1;
  for (size_t n = 0; n < result.totals.size(); ++n) {
    if (options.smoothing == BleuSmoothing::kAddK && n > 0) {
      result.counts[n] += smoothing_value(options);
      result.totals[n] += smoothing_value(options);
    }
    if (result.totals[n] == 0) break;
    if (options.effective_order) effective_order = n + 1;
    if (result.counts[n] != 0) {
      result.precisions[n] = 100.0 * result.counts[n] / result.totals[n];
    } else if (options.smoothing == BleuSmoothing::kExp) {
      halving *= 2;
      result.precisions[n] = 100.0 / (halving * result.totals[n]);
    } else if (options.smoothing == BleuSmoothing::kFloor) {
      result.precisions[n] = 100.0 * smoothing_value(options) / result.totals[n];
    }
  }
  // A zero precision makes the score 0; avoid log(0).
  const auto used = result.precisions.begin() + static_cast<std::ptrdiff_t>(effective_order);
  if (std::find(result.precisions.begin(), used, 0.0) != used) return result;
  double sum = 0;
  for (auto precision = result.precisions.begin(); precision != used; ++precision)
    sum += std::log(*precision);
  result.score = result.brevity_penalty * std::exp(sum / static_cast<double>(effective_order));
  return result;
}

void check_options(const BleuOptions& options) {
  if (options.max_order < 1)
    fail(ErrorKind::kUsage, "BLEU needs a maximum order of at least 1, not {}", options.max_order);
  if (options.smoothing_value &&
      !(*options.smoothing_value >= 0 && std::isfinite(*options.smoothing_value))) {
    fail(ErrorKind::kUsage, "the smoothing value of BLEU must be 0 or more, not {}",
         *options.smoothing_value);
  }
  const bool needs_pieces =
      options.tokenizer == BleuTokenizer::kFlores101 || options.tokenizer == BleuTokenizer::kFlores200;
  if (needs_pieces && !options.pieces) {
    fail(ErrorKind::kUsage, "the BLEU tokenizer {} needs its SentencePiece model",
         bleu_tokenizer_name(options.tokenizer));
  }
}

}  // namespace

std::string_view bleu_smoothing_name(BleuSmoothing smoothing) {
  for (const auto& [value, name] : kSmoothingNames) {
    if (value == smoothing) return name;
  }
  HEED_CHECK(false);
  return {};
}

BleuScore corpus_bleu(const std::vector<std::string>& hypotheses,
                      const std::vector<std::vector<std::string>>& references, const BleuOptions& options) {
  check_options(options);
  check_scorable(hypotheses, references);
  BleuCounts counts(static_cast<size_t>(options.max_order));
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    counts += count_sentence(hypotheses[line], references_of_line(references, line), options);
  }
  return score_counts(counts, options);
}

/// Statistics: both lengths, then matches, then totals by order.
Metric bleu_metric(size_t references, const BleuOptions& options) {
  check_options(options);
  const auto orders = static_cast<size_t>(options.max_order);
  Metric metric{
      .name = "BLEU", .signature = bleu_signature(references, options), .statistics = {}, .score = {}};
  metric.statistics = [options](const std::string& hypothesis, const std::vector<std::string>& truths) {
    const BleuCounts counts = count_sentence(hypothesis, truths, options);
    std::vector<double> all{static_cast<double>(counts.hypothesis_length),
                            static_cast<double>(counts.reference_length)};
    all.insert(all.end(), counts.matches.begin(), counts.matches.end());
    all.insert(all.end(), counts.totals.begin(), counts.totals.end());
    return all;
  };
  metric.score = [options, orders](const std::vector<double>& sums) {
    BleuCounts counts(orders);
    counts.hypothesis_length = static_cast<int64_t>(sums[0]);
    counts.reference_length = static_cast<int64_t>(sums[1]);
    for (size_t n = 0; n < orders; ++n) {
      counts.matches[n] = static_cast<int64_t>(sums[2 + n]);
      counts.totals[n] = static_cast<int64_t>(sums[2 + orders + n]);
    }
    return score_counts(counts, options).score;
  };
  return metric;
}

std::string bleu_signature(size_t references, const BleuOptions& options) {
  std::string smoothing(bleu_smoothing_name(options.smoothing));
  if (options.smoothing == BleuSmoothing::kFloor || options.smoothing == BleuSmoothing::kAddK) {
    smoothing += fmt::format("[{:.2f}]", smoothing_value(options));
  }
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:{}", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     bleu_tokenizer_name(options.tokenizer), smoothing, kSacreBleuVersion);
}

}  // namespace heed
