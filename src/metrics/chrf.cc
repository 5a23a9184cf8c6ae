#include "metrics/chrf.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "metrics/metric.h"
#include "metrics/mt_tokenizers.h"
#include "metrics/ngrams.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

/// Numbers of n-grams of one order in the hypothesis, in the reference, and in both.
struct OrderCounts {
  int64_t hypothesis = 0, reference = 0, matches = 0;
};
using ChrfCounts = std::vector<OrderCounts>;  // characters by order, then words by order

/// One sentence as sequences to count n-grams in.
struct Symbols {
  std::u32string characters, words;
};

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// Words with one punctuation mark split off at the end, or else at the beginning, like the original chrF++.
std::vector<std::string> words_and_marks(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split_whitespace(text)) {
    size_t first_length = 0;
    next_code_point(word, first_length);
    const bool is_one_character = first_length == word.size();
    if (!is_one_character && is_ascii_punctuation(word.back())) {
      words.emplace_back(word.substr(0, word.size() - 1));
      words.emplace_back(word.substr(word.size() - 1));
    } else if (!is_one_character && is_ascii_punctuation(word.front())) {
      words.emplace_back(word.substr(0, 1));
      words.emplace_back(word.substr(1));
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

Symbols read_symbols(const std::string& text, WordNumbers& numbers, const ChrfOptions& options) {
  const std::string line = options.lowercase ? lower_case(text) : text;
  Symbols symbols;
  symbols.characters = utf8_to_utf32(line);
  if (!options.whitespace) std::erase_if(symbols.characters, is_whitespace);
  if (options.word_order > 0) symbols.words = numbers.number(words_and_marks(line));
  return symbols;
}

OrderCounts compare(std::u32string_view hypothesis, std::u32string_view reference, size_t order) {
  const NgramCounts truth = count_ngrams(reference, order);
  OrderCounts counts;
  for (const auto& [ngram, count] : truth) counts.reference += count;
  for (const auto& [ngram, count] : count_ngrams(hypothesis, order)) {
    counts.hypothesis += count;
    if (const auto found = truth.find(ngram); found != truth.end())
      counts.matches += std::min(count, found->second);
  }
  // Ignore orders longer than the reference.
  if (truth.empty()) counts.hypothesis = 0;
  return counts;
}

ChrfCounts compare(const Symbols& hypothesis, const Symbols& reference, const ChrfOptions& options) {
  ChrfCounts counts;
  for (int n = 1; n <= options.char_order; ++n) {
    counts.push_back(compare(hypothesis.characters, reference.characters, static_cast<size_t>(n)));
  }
  for (int n = 1; n <= options.word_order; ++n) {
    counts.push_back(compare(hypothesis.words, reference.words, static_cast<size_t>(n)));
  }
  return counts;
}

double f_score(const ChrfCounts& counts, const ChrfOptions& options) {
  constexpr double kEpsilon = 1e-16;
  const double factor = static_cast<double>(options.beta) * options.beta;
  double sum_f = 0, precision_sum = 0, recall_sum = 0;
  int effective_order = 0;
  for (const OrderCounts& order : counts) {
    const auto hypothesis = static_cast<double>(order.hypothesis),
               reference = static_cast<double>(order.reference);
    const auto matches = static_cast<double>(order.matches);
    const double precision = order.hypothesis > 0 ? matches / hypothesis : kEpsilon;
    const double recall = order.reference > 0 ? matches / reference : kEpsilon;
    const double denominator = factor * precision + recall;
    sum_f += denominator > 0 ? (1 + factor) * precision * recall / denominator : kEpsilon;
    if (order.hypothesis > 0 && order.reference > 0) {
      precision_sum += precision;
      recall_sum += recall;
      ++effective_order;
    }
  }
  if (options.eps_smoothing) return 100 * sum_f / static_cast<double>(counts.size());
  if (effective_order == 0) return 0;
  const double precision = precision_sum / effective_order, recall = recall_sum / effective_order;
  if (precision + recall == 0) return 0;
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

/// The counts against the best-scoring reference, the first of ties.
ChrfCounts count_sentence(const std::string& hypothesis, const std::vector<std::string>& references,
                          const ChrfOptions& options) {
  WordNumbers numbers;
  const Symbols candidate = read_symbols(hypothesis, numbers, options);
  ChrfCounts best;
  double best_score = -1;
  for (const std::string& reference : references) {
    ChrfCounts counts = compare(candidate, read_symbols(reference, numbers, options), options);
    if (const double score = f_score(counts, options); score > best_score) {
      best_score = score;
      best = std::move(counts);
    }
  }
  return best;
}

void check_options(const ChrfOptions& options) {
  if (options.char_order < 0 || options.word_order < 0 || options.char_order + options.word_order < 1) {
    fail(ErrorKind::kUsage, "chrF needs n-grams of characters or words, not orders {} and {}",
         options.char_order, options.word_order);
  }
  if (options.beta < 1) fail(ErrorKind::kUsage, "the beta of chrF must be at least 1, not {}", options.beta);
}

std::string name_of(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta, std::string(static_cast<size_t>(options.word_order), '+'));
}

}  // namespace

ChrfScore corpus_chrf(const std::vector<std::string>& hypotheses,
                      const std::vector<std::vector<std::string>>& references, const ChrfOptions& options) {
  check_options(options);
  check_scorable(hypotheses, references);
  ChrfCounts sum(static_cast<size_t>(options.char_order + options.word_order));
  for (size_t line = 0; line < hypotheses.size(); ++line) {
    const ChrfCounts counts = count_sentence(hypotheses[line], references_of_line(references, line), options);
    for (size_t n = 0; n < sum.size(); ++n) {
      sum[n].hypothesis += counts[n].hypothesis;
      sum[n].reference += counts[n].reference;
      sum[n].matches += counts[n].matches;
    }
  }
  return {f_score(sum, options), name_of(options)};
}

/// Statistics: n-grams in the hypothesis, in the reference and in both, order by order.
Metric chrf_metric(size_t references, const ChrfOptions& options) {
  check_options(options);
  Metric metric{.name = name_of(options),
                .signature = chrf_signature(references, options),
                .statistics = {},
                .score = {}};
  metric.statistics = [options](const std::string& hypothesis, const std::vector<std::string>& truths) {
    std::vector<double> all;
    for (const OrderCounts& order : count_sentence(hypothesis, truths, options)) {
      for (const int64_t count : {order.hypothesis, order.reference, order.matches}) {
        all.push_back(static_cast<double>(count));
      }
    }
    return all;
  };
  metric.score = [options](const std::vector<double>& sums) {
    ChrfCounts counts(sums.size() / 3);
    for (size_t n = 0; n < counts.size(); ++n) {
      counts[n] = {static_cast<int64_t>(sums[3 * n]), static_cast<int64_t>(sums[3 * n + 1]),
                   static_cast<int64_t>(sums[3 * n + 2])};
    }
    return f_score(counts, options);
  };
  return metric;
}

std::string chrf_signature(size_t references, const ChrfOptions& options) {
  return fmt::format("nrefs:{}|case:{}|eff:{}|nc:{}|nw:{}|space:{}|version:{}", references,
                     options.lowercase ? "lc" : "mixed", options.eps_smoothing ? "no" : "yes",
                     options.char_order, options.word_order, options.whitespace ? "yes" : "no",
                     kSacreBleuVersion);
}

}  // namespace heed
