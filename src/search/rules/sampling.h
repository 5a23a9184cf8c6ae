// Sampling of translations.
#pragma once

#include "search/sentence_search.h"

namespace heed::search {

/// A candidate token and its weight.
struct WeightedToken {
  int32_t id = 0;
  double weight = 0;
};

/// Top-p filter: keeps the most probable tokens whose weights reach `top_p` of the total, at least one; ties
/// by lower id.
void keep_nucleus(std::vector<WeightedToken>& tokens, double top_p);

/// Min-p filter: keeps tokens with at least `min_p` times the largest weight.
void keep_likely(std::vector<WeightedToken>& tokens, double min_p);

/// Inverse CDF sampling: the token at `uniform` in [0, 1). There must be at least one token.
int32_t sample_token(const std::vector<WeightedToken>& tokens, double uniform);

/// Samples `nbest` independent translations. The random numbers depend on (seed, sentence number, sample
/// number, position). Log-probabilities are the model's, before temperature, top_k, top_p and min_p.
class Sampling : public SentenceSearch {
 public:
  explicit Sampling(SearchSettings settings);

  size_t width() const override { return static_cast<size_t>(settings_.options.nbest); }
  const std::vector<Row>& rows() const override { return rows_; }
  void advance(std::span<float> logits) override;
  bool done() const override { return rows_.empty(); }
  std::vector<int32_t> ids_so_far() const override;
  std::vector<Hypothesis> take() override;

 private:
  /// A sample in progress.
  struct Draw {
    RandomKey key;
    int32_t node = HypothesisTree::kRoot;
    double sum = 0;
  };

  int64_t top_k() const;
  std::vector<WeightedToken> candidates(size_t row, std::span<const float> logits) const;
  std::optional<int32_t> sample(size_t row, std::span<const float> logits) const;
  void follow(const std::vector<std::optional<WeightedToken>>& tokens);
  void finish(const Draw& draw);

  SearchSettings settings_;
  HypothesisTree tree_;
  int64_t length_ = 0;
  std::vector<Row> rows_;
  std::vector<Draw> draws_;  // one per row
  std::vector<Hypothesis> finished_;
  NextTokens next_tokens_;
};

}  // namespace heed::search
