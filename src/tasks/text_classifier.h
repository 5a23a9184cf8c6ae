// Classifies texts with a model and its tokenizer, in batches on several threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/model_inventory.h"
#include "base/stop.h"
#include "base/thread_pool.h"
#include "models/directory/loaded_model.h"
#include "search/encoder_batches.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed::tasks {

/// A text or a text pair.
struct ClassifierText {
  std::string first;
  std::optional<std::string> second = {};
};

/// A line, with a tab between the two texts of a pair.
ClassifierText classifier_text(std::string_view line);

struct Classification {
  /// Softmax probabilities by class index.
  std::vector<float> probabilities;
  std::vector<double> log_probabilities;  ///< natural logarithms, without underflow
  int best = 0;                           ///< the most probable class; ties: the first
  bool truncated = false;                 ///< whether the text was longer than the maximum of the model
};

/// Model and pool must outlive this. Not thread-safe.
class TextClassifier {
 public:
  TextClassifier(const models::Classifier& model, const nn::Context& context, ModelTokenizer tokenizer,
                 ThreadPool& pool, int64_t batch_tokens = search::kEncoderBatchTokens);

  /// One result per text, independent of the batch. Throws kUsage for a text pair if the model does not
  /// support pairs.
  /// Throws Cancelled soon after `stop` is requested.
  std::vector<Classification> classify(const std::vector<ClassifierText>& texts, const Stop& stop = {}) const;

  /// Tokenizes a text, truncated to the model's maximum length.
  Encoding encode(const ClassifierText& text) const;
  /// The same for a text of any length.
  Encoding encode_whole(const ClassifierText& text) const;
  const models::Classifier& model() const { return model_; }
  const ModelTokenizer& tokenizer() const { return tokenizer_; }

 private:
  Encoding tokens_of(const ClassifierText& text, int64_t most) const;

  const models::Classifier& model_;
  nn::Context context_;
  ModelTokenizer tokenizer_;
  ThreadPool& pool_;
  int64_t batch_tokens_;
};

/// Throws kFormat if the tokenizer has more pieces than the `vocabulary` embeddings of a model.
void require_vocabulary(const ModelTokenizer& tokenizer, int64_t vocabulary, const ModelInventory& files);

}  // namespace heed::tasks
