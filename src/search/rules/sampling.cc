#include "search/rules/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace heed::search {

void keep_nucleus(std::vector<WeightedToken>& tokens, double top_p) {
  double total = 0;
  for (const WeightedToken& token : tokens) total += token.weight;
  const auto less_likely = [](const WeightedToken& a, const WeightedToken& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.id > b.id;
  };
  // The nucleus is usually small: a heap finds it without sorting the vocabulary.
  std::make_heap(tokens.begin(), tokens.end(), less_likely);
  auto rest = tokens.end();
  for (double reached = 0; rest != tokens.begin() && reached < top_p * total; --rest) {
    reached += tokens.front().weight;
    std::pop_heap(tokens.begin(), rest, less_likely);
  }
  tokens.erase(tokens.begin(), rest == tokens.end() ? rest - 1 : rest);
  std::reverse(tokens.begin(), tokens.end());
}

void keep_likely(std::vector<WeightedToken>& tokens, double min_p) {
  double highest = 0;
  for (const WeightedToken& token : tokens) highest = std::max(highest, token.weight);
  std::erase_if(tokens, [&](const WeightedToken& token) { return token.weight < min_p * highest; });
}

int32_t sample_token(const std::vector<WeightedToken>& tokens, double uniform) {
  HEED_CHECK(!tokens.empty());
  double total = 0;
  for (const WeightedToken& token : tokens) total += token.weight;
  double left = uniform * total;
  int32_t last = tokens.front().id;
  for (const WeightedToken& token : tokens) {
    if (token.weight <= 0) continue;
    last = token.id;
    left -= token.weight;
    if (left < 0) break;
  }
  return last;  // the default in case of rounding errors
}

Sampling::Sampling(SearchSettings settings) : settings_(std::move(settings)) {
  const RandomKey key = RandomKey::from_seed(settings_.options.sampling.seed).fold(settings_.random_stream);
  for (int n = 0; n < settings_.options.nbest; ++n) {
    rows_.push_back({-1, settings_.prompt.back()});
    draws_.push_back({key.fold(static_cast<uint64_t>(n))});
  }
}

void Sampling::advance(std::span<float> logits) {
  const auto vocabulary = static_cast<size_t>(settings_.vocabulary);
  std::vector<std::optional<WeightedToken>> tokens(
      rows_.size());  // the next ones, with their log-probabilities
  if (const auto forced = settings_.rules.forced(length_)) {
    std::fill(tokens.begin(), tokens.end(), WeightedToken{*forced, 0});
  } else {
    std::vector<int32_t> nodes;
    for (const Draw& draw : draws_) nodes.push_back(draw.node);
    next_tokens_.read({settings_, tree_, nodes, length_}, logits, top_k());
    for (size_t row = 0; row < rows_.size(); ++row) {
      const auto row_logits = logits.subspan(row * vocabulary, vocabulary);
      const auto id = sample(row, row_logits);
      if (id) tokens[row] = {*id, next_tokens_.log_probability_of(row, *id, row_logits[*id])};
    }
  }
  follow(tokens);
}

/// How many tokens to sample from; 0: all.
int64_t Sampling::top_k() const {
  const int64_t most = settings_.options.sampling.top_k;
  return most < settings_.vocabulary ? most : 0;
}

/// The candidates, weighted by exp(log p / temperature) relative to the most probable one.
std::vector<WeightedToken> Sampling::candidates(size_t row, std::span<const float> logits) const {
  const SamplingOptions& options = settings_.options.sampling;
  std::vector<WeightedToken> tokens;
  if (const int64_t most = top_k(); most > 0) {
    for (int64_t n = 0; n < most && next_tokens_.id(row, n) >= 0; ++n)
      tokens.push_back({next_tokens_.id(row, n), 0});
  } else {
    for (size_t id = 0; id < logits.size(); ++id) {
      if (logits[id] > -std::numeric_limits<float>::infinity())
        tokens.push_back({static_cast<int32_t>(id), 0});
    }
  }
  double highest = -std::numeric_limits<double>::infinity();
  for (const WeightedToken& token : tokens) highest = std::max<double>(highest, logits[token.id]);
  for (WeightedToken& token : tokens)
    token.weight = std::exp((logits[token.id] - highest) / options.temperature);
  return tokens;
}

/// Nothing where no token is allowed.
std::optional<int32_t> Sampling::sample(size_t row, std::span<const float> logits) const {
  std::vector<WeightedToken> tokens = candidates(row, logits);
  if (tokens.empty()) return std::nullopt;
  if (settings_.options.sampling.top_p < 1) keep_nucleus(tokens, settings_.options.sampling.top_p);
  if (settings_.options.sampling.min_p > 0) keep_likely(tokens, settings_.options.sampling.min_p);
  return sample_token(tokens, Random(draws_[row].key.fold(static_cast<uint64_t>(length_))).uniform());
}

void Sampling::follow(const std::vector<std::optional<WeightedToken>>& tokens) {
  ++length_;
  std::vector<Row> rows;
  std::vector<Draw> draws;
  for (size_t row = 0; row < tokens.size(); ++row) {
    Draw draw = draws_[row];
    if (!tokens[row]) {  // no token is allowed: finish here
      finish(draw);
      continue;
    }
    const auto& [id, log_probability] = *tokens[row];
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

std::vector<int32_t> Sampling::ids_so_far() const {
  if (settings_.options.nbest > 1) return {};
  return done() ? finished_.front().ids : tree_.ids(draws_.front().node);
}

std::vector<Hypothesis> Sampling::take() {
  HEED_CHECK(done());
  std::stable_sort(finished_.begin(), finished_.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  return std::move(finished_);
}

}  // namespace heed::search
