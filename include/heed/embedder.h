// Sentence embeddings: a vector for each text, from an encoder-only model.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/cancel.h"
#include "heed/error.h"
#include "heed/tensor.h"
#include "heed/trace.h"

namespace heed {

/// How the vectors of a text's tokens, special tokens included, become one.
enum class Pooling {
  kCls,       ///< the vector of the first token
  kMax,       ///< the largest value of each feature
  kMean,      ///< the mean
  kMeanSqrt,  ///< the sum divided by the square root of the number of tokens
};

/// "cls", "max", "mean" or "mean_sqrt_len_tokens", as sentence-transformers calls them. Throws kUsage.
Pooling pooling_named(const std::string& name);

/// What the files of the directory say, where it is not set here.
struct EmbedderOptions {
  int threads = 0;                         ///< 0: one per processor; results do not depend on it
  std::optional<Pooling> pooling = {};     ///< without files of sentence-transformers: kMean
  std::optional<bool> normalize = {};      ///< to length 1; without such files: no
  std::optional<std::string> prompt = {};  ///< the name of a prompt of the directory, put before every text
};

/// One vector for each text.
struct TextVectors {
  Tensor vectors;               ///< (texts, width), float32
  std::vector<bool> truncated;  ///< the text was longer than the maximum of the model
};

/// A loaded model of embeddings. Thread-safe.
class Embedder {
 public:
  /// Opens a directory of sentence-transformers (modules.json), or of any encoder that Heed reads, whose head
  /// is left out. Throws Error.
  explicit Embedder(const std::string& directory, const EmbedderOptions& options = {});
  ~Embedder();
  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;

  /// The width of the vectors.
  int64_t width() const;
  /// The maximum length of a text in tokens, including special tokens; longer texts are truncated.
  int64_t max_length() const;

  // The functions below throw Error: kText for invalid UTF-8.

  /// One vector per text, also of an empty one; independent of the other texts. Throws Cancelled soon after
  /// `cancelled` is set.
  TextVectors embed(const std::vector<std::string>& texts,
                    const std::atomic<bool>* cancelled = nullptr) const;

  /// The attention weights of all heads and layers, in the trace's `encoder`; its `target` is empty. `ablate`
  /// as in Translator::attend. Throws kUsage for a text longer than the maximum, of which a part alone would
  /// be shown.
  Trace attend(const std::string& text, const std::vector<std::string>& ablate = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
