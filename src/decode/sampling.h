// Translations drawn by chance: as varied as the model is uncertain.
#pragma once

#include "decode/sentence_search.h"

namespace heed::decode {

/// A word that may be drawn, and its share.
struct WeightedWord {
  int32_t id = 0;
  double weight = 0;
};

/// Keeps the likeliest words that together reach `top_p` of the sum of all weights, at least one; of equal
/// ones, those with the lower ids.
void keep_nucleus(std::vector<WeightedWord>& words, double top_p);

/// Keeps the words that are at least `min_p` times as likely as the likeliest.
void keep_likely(std::vector<WeightedWord>& words, double min_p);

/// The word at `uniform`, in [0, 1), of all words laid out in a row, each as wide as its weight. There must
/// be one.
int32_t word_at(const std::vector<WeightedWord>& words, double uniform);

/// `nbest` translations, drawn independently of each other and of all other sentences: the words come from
/// (seed, number of the sentence, number of the draw, position). The log-probabilities are those of the
/// model, before temperature, top_k, top_p and min_p.
class Sampling : public SentenceSearch {
 public:
  explicit Sampling(SearchSettings settings);

  const std::vector<Row>& rows() const override { return rows_; }
  void advance(std::span<float> logits) override;
  bool done() const override { return rows_.empty(); }
  std::vector<int32_t> certain_words() const override;
  std::vector<Hypothesis> take() override;

 private:
  /// A translation under way.
  struct Draw {
    RandomKey key;
    int32_t node = HypothesisTree::kRoot;
    double sum = 0;
  };

  std::vector<WeightedWord> allowed_words(size_t row, std::span<const float> logits) const;
  std::optional<int32_t> draw_word(size_t row, std::span<const float> logits) const;
  void follow(const std::vector<std::optional<WeightedWord>>& words);
  void finish(const Draw& draw);

  SearchSettings settings_;
  HypothesisTree tree_;
  int64_t length_ = 0;
  std::vector<Row> rows_;
  std::vector<Draw> draws_;  // one for each row
  std::vector<Hypothesis> finished_;
  NextWords words_;
};

}  // namespace heed::decode
