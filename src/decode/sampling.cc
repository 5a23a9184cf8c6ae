#include "decode/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace heed::decode {

void keep_nucleus(std::vector<WeightedWord>& words, double top_p) {
  double total = 0;
  for (const WeightedWord& word : words) total += word.weight;
  const auto less_likely = [](const WeightedWord& a, const WeightedWord& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.id > b.id;
  };
  // The nucleus is mostly small: a heap finds it without sorting the vocabulary.
  std::make_heap(words.begin(), words.end(), less_likely);
  auto rest = words.end();
  for (double reached = 0; rest != words.begin() && reached < top_p * total; --rest) {
    reached += words.front().weight;
    std::pop_heap(words.begin(), rest, less_likely);
  }
  words.erase(words.begin(), rest == words.end() ? rest - 1 : rest);
  std::reverse(words.begin(), words.end());
}

void keep_likely(std::vector<WeightedWord>& words, double min_p) {
  double highest = 0;
  for (const WeightedWord& word : words) highest = std::max(highest, word.weight);
  std::erase_if(words, [&](const WeightedWord& word) { return word.weight < min_p * highest; });
}

int32_t word_at(const std::vector<WeightedWord>& words, double uniform) {
  HEED_CHECK(!words.empty());
  double total = 0;
  for (const WeightedWord& word : words) total += word.weight;
  double left = uniform * total;
  int32_t last = words.front().id;
  for (const WeightedWord& word : words) {
    if (word.weight <= 0) continue;
    last = word.id;
    left -= word.weight;
    if (left < 0) break;
  }
  return last;  // also where rounding leaves something over
}

Sampling::Sampling(SearchSettings settings) : settings_(std::move(settings)) {
  const RandomKey key = RandomKey::from_seed(settings_.options.sampling.seed).fold(settings_.number);
  for (int n = 0; n < settings_.options.nbest; ++n) {
    rows_.push_back({-1, settings_.beginning.back()});
    draws_.push_back({key.fold(static_cast<uint64_t>(n))});
  }
}

void Sampling::advance(std::span<float> logits) {
  const auto vocabulary = static_cast<size_t>(settings_.vocabulary);
  std::vector<std::optional<WeightedWord>> words(
      rows_.size());  // the next ones, with their log-probabilities
  if (const auto forced = settings_.rules.forced(length_)) {
    std::fill(words.begin(), words.end(), WeightedWord{*forced, 0});
  } else {
    std::vector<int32_t> nodes;
    for (const Draw& draw : draws_) nodes.push_back(draw.node);
    const int64_t most = std::min<int64_t>(settings_.options.sampling.top_k, settings_.vocabulary);
    words_.read(settings_, tree_, nodes, length_, logits, most);
    for (size_t row = 0; row < rows_.size(); ++row) {
      const auto row_logits = logits.subspan(row * vocabulary, vocabulary);
      const auto id = draw_word(row, row_logits);
      if (id) words[row] = {*id, row_logits[*id] - words_.log_sum(row)};
    }
  }
  follow(words);
}

/// What may be drawn, weighted with exp(log p / temperature) as far from the likeliest word.
std::vector<WeightedWord> Sampling::allowed_words(size_t row, std::span<const float> logits) const {
  const SamplingOptions& options = settings_.options.sampling;
  std::vector<WeightedWord> words;
  if (options.top_k > 0) {
    const int64_t most = std::min<int64_t>(options.top_k, settings_.vocabulary);
    for (int64_t n = 0; n < most && words_.id(row, n) >= 0; ++n) words.push_back({words_.id(row, n), 0});
  } else {
    for (size_t id = 0; id < logits.size(); ++id) {
      if (logits[id] > -std::numeric_limits<float>::infinity())
        words.push_back({static_cast<int32_t>(id), 0});
    }
  }
  double highest = -std::numeric_limits<double>::infinity();
  for (const WeightedWord& word : words) highest = std::max<double>(highest, logits[word.id]);
  for (WeightedWord& word : words) word.weight = std::exp((logits[word.id] - highest) / options.temperature);
  return words;
}

/// Nothing where no word is allowed.
std::optional<int32_t> Sampling::draw_word(size_t row, std::span<const float> logits) const {
  std::vector<WeightedWord> words = allowed_words(row, logits);
  if (words.empty()) return std::nullopt;
  if (settings_.options.sampling.top_p < 1) keep_nucleus(words, settings_.options.sampling.top_p);
  if (settings_.options.sampling.min_p > 0) keep_likely(words, settings_.options.sampling.min_p);
  return word_at(words, Random(draws_[row].key.fold(static_cast<uint64_t>(length_))).uniform());
}

void Sampling::follow(const std::vector<std::optional<WeightedWord>>& words) {
  ++length_;
  std::vector<Row> rows;
  std::vector<Draw> draws;
  for (size_t row = 0; row < words.size(); ++row) {
    Draw draw = draws_[row];
    if (!words[row]) {  // no word is allowed: what there is has to do
      finish(draw);
      continue;
    }
    const auto& [id, log_probability] = *words[row];
    const bool ends = settings_.ends(tree_, draw.node, id, length_);
    draw.node = tree_.extend(draw.node, id, static_cast<float>(log_probability));
    draw.sum += log_probability;
    if (ends) {
      finish(draw);
    } else {
      rows.push_back({static_cast<int32_t>(row), id});
      draws.push_back(draw);
    }
  }
  rows_ = std::move(rows);
  draws_ = std::move(draws);
}

void Sampling::finish(const Draw& draw) {
  finished_.push_back(
      tree_.hypothesis(draw.node, draw.sum, settings_.options.length_penalty, settings_.free));
}

std::vector<int32_t> Sampling::certain_words() const {
  if (settings_.options.nbest > 1) return {};
  return done() ? finished_.front().ids : tree_.ids(draws_.front().node);
}

std::vector<Hypothesis> Sampling::take() {
  HEED_CHECK(done());
  std::stable_sort(finished_.begin(), finished_.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return std::move(finished_);
}

}  // namespace heed::decode
