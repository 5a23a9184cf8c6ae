// Sentence embeddings: the vectors of a text's tokens, pooled to one; in batches on several threads.
#pragma once

#include <string>
#include <vector>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "heed/embedder.h"
#include "models/directory/loaded_model.h"
#include "models/directory/sentence_modules.h"
#include "text/tokenizers/encoder_tokenizer.h"

namespace heed::tasks {

/// The settings of a directory with those of `options` over them. Throws the errors of reading, and kUsage
/// for an unknown prompt, with the known ones.
models::SentenceModules embedding_settings(const models::LoadedModel& loaded, const EmbedderOptions& options);

/// Model and pool must outlive this. Not thread-safe.
class TextEmbedder {
 public:
  TextEmbedder(const models::Encoder& model, const nn::Context& context, ModelTokenizer tokenizer,
               const models::SentenceModules& settings, ThreadPool& pool);

  /// One vector per text, independent of the batch. Throws Cancelled soon after `stop` is requested.
  TextVectors embed(const std::vector<std::string>& texts, const Stop& stop = {}) const;

  /// Tokenizes a text with its prompt, truncated to the maximum length.
  Encoding encode(const std::string& text) const;
  /// The same for a text of any length.
  Encoding encode_whole(const std::string& text) const;
  int64_t width() const;
  int64_t max_length() const { return max_length_; }

 private:
  Encoding tokens_of(const std::string& text, int64_t most) const;

  const models::Encoder& model_;
  nn::Context context_;
  ModelTokenizer tokenizer_;
  models::SentenceModules settings_;
  ThreadPool& pool_;
  int64_t max_length_ = 0;
};

}  // namespace heed::tasks
