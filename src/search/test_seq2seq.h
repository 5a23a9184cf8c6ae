// Test helper: models with known or cheap translations.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "models/stacks/transformer.h"
#include "models/test_models.h"
#include "search/search.h"
#include "search/test_tokenizer.h"

namespace heed::search {

/// A model defined by a function from the source and the tokens so far (without the start token) to the next
/// logits. Its vocabulary is 0 (end), 1 .. size - 2 (ordinary tokens) and size - 1 (padding and start).
class FunctionModel : public models::Seq2Seq {
 public:
  using Logits =
      std::function<std::vector<float>(const std::vector<int32_t>& source, const std::vector<int32_t>& ids)>;
  FunctionModel(int64_t vocabulary, int64_t max_length, Logits logits)
      : vocabulary_(vocabulary), max_length_(max_length), logits_(std::move(logits)) {}

  int64_t vocabulary_size() const override { return vocabulary_; }
  int32_t start_id() const override { return static_cast<int32_t>(vocabulary_ - 1); }
  int32_t end_id() const override { return 0; }
  int32_t padding_id() const override { return start_id(); }
  int64_t max_length() const override { return max_length_; }
  nlohmann::ordered_json config_json() const override { throw std::logic_error("this model is not written"); }

  ops::VocabularyLoss loss(nn::Context&, const models::Sequences&, const models::Sequences&,
                           const std::vector<int32_t>&, const ops::CrossEntropyOptions&) const override {
    throw std::logic_error("this model is not trained");
  }
  Var hidden(nn::Context&, const models::Sequences&, const models::Sequences&) const override {
    throw std::logic_error("this model has no layers");
  }
  Tensor logits(nn::Context&, const models::Sequences& sources,
                const models::Sequences& inputs) const override {
    std::vector<float> all;
    for (int b = 0; b < inputs.count(); ++b) {
      const std::vector<int32_t> source(sources[b].begin(), sources[b].end());
      std::vector<int32_t> history;
      for (const int32_t id : inputs[b]) {
        if (id != start_id()) history.push_back(id);
        const std::vector<float> row = logits_(source, history);
        all.insert(all.end(), row.begin(), row.end());
      }
    }
    return Tensor::from(all, {static_cast<int64_t>(inputs.ids.size()), vocabulary_});
  }

  struct State : models::DecoderState {
    std::vector<std::vector<int32_t>> sources, histories;  // by number of sentence; by row of the last step
    std::vector<bool> live;
    size_t most_rows = 0;
  };
  std::unique_ptr<models::DecoderState> start(nn::Context&) const override {
    return std::make_unique<State>();
  }
  std::vector<int32_t> admit(nn::Context&, models::DecoderState& decoder_state,
                             const models::Sequences& source) const override {
    auto& state = dynamic_cast<State&>(decoder_state);
    std::vector<int32_t> numbers;
    for (int b = 0; b < source.count(); ++b) {
      size_t number = 0;
      while (number < state.live.size() && state.live[number]) ++number;
      if (number == state.live.size()) {
        state.live.push_back(true);
        state.sources.emplace_back();
      }
      state.live[number] = true;
      state.sources[number].assign(source.ids.begin() + source.offsets[b],
                                   source.ids.begin() + source.offsets[b + 1]);
      numbers.push_back(static_cast<int32_t>(number));
    }
    return numbers;
  }
  void release(models::DecoderState& decoder_state, int32_t sentence) const override {
    auto& state = dynamic_cast<State&>(decoder_state);
    HEED_CHECK(state.live[sentence]);
    state.live[sentence] = false;
  }
  Tensor step(nn::Context&, models::DecoderState& decoder_state,
              const std::vector<models::StepRow>& rows) const override {
    auto& state = dynamic_cast<State&>(decoder_state);
    size_t largest = largest_step;
    while (rows.size() > largest && !largest_step.compare_exchange_weak(largest, rows.size())) {
    }
    ++steps;
    std::vector<std::vector<int32_t>> histories;
    std::vector<float> all;
    for (const models::StepRow& row : rows) {
      HEED_CHECK(state.live.at(row.sentence));
      std::vector<int32_t> history;
      if (row.draft) {
        history = histories.at(histories.size() - 1);
        history.push_back(row.token);
        ++drafts;
      } else if (row.parent >= 0) {
        history = state.histories.at(row.parent);
        history.push_back(row.token);
      } else {
        HEED_CHECK(row.token == start_id());
      }
      const auto logits = logits_(state.sources[row.sentence], history);
      if (row.shortlist.empty()) all.insert(all.end(), logits.begin(), logits.end());
      for (const int32_t word : row.shortlist) all.push_back(logits[word]);
      histories.push_back(std::move(history));
    }
    state.histories = std::move(histories);
    return Tensor::from(all, {static_cast<int64_t>(all.size())});
  }

  bool takes_drafts() const override { return true; }

  mutable std::atomic<size_t> largest_step = 0;       ///< number of rows
  mutable std::atomic<size_t> steps = 0, drafts = 0;  ///< of all searches

 private:
  int64_t vocabulary_, max_length_;
  Logits logits_;
};

/// Pseudo-random logits that depend on source and history, so that any mix-up of hypotheses changes them.
inline FunctionModel::Logits scrambled_logits(int64_t vocabulary, double spread, uint64_t seed) {
  return [=](const std::vector<int32_t>& source, const std::vector<int32_t>& ids) {
    RandomKey key = RandomKey::from_seed(seed);
    for (const int32_t id : source) key = key.fold(static_cast<uint64_t>(id));
    for (const int32_t id : ids) key = key.fold(static_cast<uint64_t>(id) + 1000);
    Random random(key);
    std::vector<float> logits(vocabulary);
    for (float& z : logits) z = static_cast<float>(spread * random.normal());
    return logits;
  };
}

/// The config of a minimal Transformer for the vocabulary of small_tokenizer().
inline models::TransformerConfig small_translator_config() {
  const TranslationTokenizer& tokenizer = small_tokenizer();
  models::TransformerConfig config;
  config.vocabulary = static_cast<int64_t>(tokenizer.size());
  config.width = 16;
  config.encoder_layers = config.decoder_layers = 1;
  config.encoder_heads = config.decoder_heads = 2;
  config.encoder_inner_width = config.decoder_inner_width = 16;
  config.max_length = 30;
  config.padding_id = config.start_id = tokenizer.vocabulary().pad_id();
  config.end_id = tokenizer.end_id();
  return config;
}

/// An untrained Transformer with random weights, whose output depends on all source and target tokens.
struct TinyTransformer : models::ModelWithWeights<models::Transformer> {
  explicit TinyTransformer(uint64_t seed = 1, int64_t vocabulary = 97)
      : ModelWithWeights(config(vocabulary)) {
    nn::initialize(model.table(), values, RandomKey::from_seed(seed));
  }
  static models::TransformerConfig config(int64_t vocabulary) {
    models::TransformerConfig config;
    config.vocabulary = vocabulary;
    config.width = 32;
    config.encoder_layers = config.decoder_layers = 2;
    config.encoder_heads = config.decoder_heads = 4;
    config.encoder_inner_width = config.decoder_inner_width = 64;
    config.max_length = 64;
    config.padding_id = config.start_id = static_cast<int32_t>(vocabulary - 1);
    return config;
  }
};

/// `count` random sentences of 1 to `max_length` ids below `words` and the end token 0; numbered from 0.
inline std::vector<SearchSentence> random_sentences(size_t count, int64_t max_length, int32_t words,
                                                    uint64_t seed) {
  Random random(RandomKey::from_seed(seed));
  std::vector<SearchSentence> sentences(count);
  for (size_t n = 0; n < count; ++n) {
    sentences[n].number = n;
    for (uint64_t left = 1 + random.below(max_length); left > 0; --left) {
      sentences[n].source.push_back(1 + static_cast<int32_t>(random.below(words - 1)));
    }
    sentences[n].source.push_back(0);
  }
  return sentences;
}

}  // namespace heed::search
