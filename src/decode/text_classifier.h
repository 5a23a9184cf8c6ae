// Texts into classes: a classifier with its tokenizer, in batches on several threads.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "models/model_directory.h"
#include "text/wordpiece.h"

namespace heed::decode {

/// A text, or a pair of them.
struct ClassifierText {
  std::string first;
  std::optional<std::string> second = {};
};

/// A line, with a tab between the two texts of a pair.
ClassifierText classifier_text(std::string_view line);

struct Classification {
  /// Of the classes, in the order of their numbers: softmax of the logits.
  std::vector<float> probabilities;
  std::vector<double> log_probabilities;  ///< their natural logarithms, also where they are too small
  int best = 0;                           ///< the likeliest class; of equals, the first
  bool truncated = false;                 ///< whether the text was longer than the maximum of the model
};

/// For as long as the model and the pool live; one thread at a time.
class TextClassifier {
 public:
  /// Tokens that go through the model together, at most, unless one text has more.
  static constexpr int64_t kBatchTokens = 2048;

  TextClassifier(const models::Classifier& model, const nn::Context& context, WordPieceTokenizer tokenizer,
                 ThreadPool& pool, int64_t batch_tokens = kBatchTokens);

  /// One result for each text, the same whatever stands beside it. Throws kUsage for a pair where the model
  /// does not tell two texts apart. Once `cancelled` is set, returns soon, and nothing.
  std::vector<Classification> classify(const std::vector<ClassifierText>& texts,
                                       const std::atomic<bool>* cancelled = nullptr) const;

  /// As the model reads a text: cut to what it has positions for.
  WordPieceEncoding encode(const ClassifierText& text) const;
  const models::Classifier& model() const { return model_; }
  const WordPieceTokenizer& tokenizer() const { return tokenizer_; }

 private:
  const models::Classifier& model_;
  nn::Context context_;
  WordPieceTokenizer tokenizer_;
  ThreadPool& pool_;
  int64_t batch_tokens_;
};

/// Throws kFormat where the tokenizer has pieces that a model with `vocabulary` embeddings does not know.
void require_vocabulary(const WordPieceTokenizer& tokenizer, int64_t vocabulary,
                        const std::string& directory);

}  // namespace heed::decode
