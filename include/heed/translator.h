// Translation with a model directory: text in, text out, and what every head looked at.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/error.h"
#include "heed/trace.h"

namespace heed {

struct TranslateOptions {
  /// Beam size, at most 1024; 1 is greedy search, 0 the default of the model directory.
  int beam = 0;
  int nbest = 1;  ///< translations wanted of each sentence, at most `beam`
  /// Hypotheses are compared by (sum of log-probabilities) / words^length_penalty; none: as the directory
  /// says.
  std::optional<double> length_penalty{};
  bool split_sentences = true;  ///< translate the sentences of a line one by one, not the line as a whole
  /// URLs, code, numbers, emojis and the like come out as they went in.
  bool placeholders = true;
  /// Terms, and what each of them must become.
  std::vector<std::pair<std::string, std::string>> glossary{};
};

/// One translation.
struct TranslatedText {
  std::string text;
  double log_probability = 0;
  double score = 0;                 ///< log_probability / words^length_penalty, the end token being a word
  std::vector<std::string> pieces;  ///< subwords, the end token last
};

/// A loaded model. Functions may be called from several threads at once; each uses the translator's own
/// threads.
class Translator {
 public:
  /// Opens a directory in the Hugging Face Marian layout. `threads` 0: one for each processor; results do not
  /// depend on it. Throws Error.
  explicit Translator(const std::string& directory, int threads = 0);
  ~Translator();
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;

  // All functions throw Error: kText for what is not UTF-8, kUsage for options that make no sense.

  /// The best translation of each line; an empty line stays empty.
  std::vector<std::string> translate(const std::vector<std::string>& lines,
                                     const TranslateOptions& options = {}) const;
  std::string translate(const std::string& line, const TranslateOptions& options = {}) const;
  /// The n best translations of a line, best first.
  std::vector<TranslatedText> alternatives(const std::string& line,
                                           const TranslateOptions& options = {}) const;

  /// The attention of every head of every layer while the model translates `source`; or, where given, while
  /// it would write `target`.
  Trace attend(const std::string& source, const std::string& target = "") const;

  /// log P(target | source), the end token included.
  double log_probability(const std::string& source, const std::string& target) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
