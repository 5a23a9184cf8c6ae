// Continuing texts with a language model's directory: a prompt in, what follows out, as it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/error.h"
#include "heed/trace.h"

namespace heed {

struct GenerateOptions {
  int64_t max_tokens = 256;  ///< written at most
  bool greedy = false;       ///< always the likeliest token, instead of drawing one
  int beam = 0;              ///< search for the likeliest text with so many hypotheses; 0: draw it
  double temperature = 1;    ///< below 1 favours likely tokens, above 1 unlikely ones
  int top_k = 0;             ///< draw among so many of the likeliest; 0: all
  double top_p = 0.9;        ///< draw among the likeliest that reach this probability together; 1: all
  double min_p = 0;          ///< draw among those at least so many times as likely as the likeliest; 0: all
  double repetition_penalty = 1;        ///< above 1 makes tokens of prompt and text so far less likely
  uint64_t seed = 1;                    ///< the same seed gives the same text
  std::vector<std::string> stops = {};  ///< the text ends before the first of these
};

/// A loaded language model. Functions may be called from several threads at once.
class Generator {
 public:
  /// Opens a directory in Hugging Face's GPT-2 or Llama layout. `threads` 0: one for each processor; results
  /// do not depend on it. Throws Error.
  explicit Generator(const std::string& directory, int threads = 0);
  ~Generator();
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;

  /// Told of a text as it is written, in whole characters.
  using Show = std::function<void(std::string_view text)>;
  /// What the model writes behind the prompt.
  std::string generate(const std::string& prompt, const GenerateOptions& options = {},
                       const Show& show = {}) const;
  /// Several texts behind the same prompt, the likeliest first; with `beam` or `greedy`, at most as many as
  /// the beam is wide.
  std::vector<std::string> samples(const std::string& prompt, int count,
                                   const GenerateOptions& options = {}) const;

  /// log P(text), the first token given where the model's texts have no start token; and exp of the mean
  /// surprise of a token.
  double log_probability(const std::string& text) const;
  double perplexity(const std::string& text) const;

  /// What every head of every layer attends to while the model reads a text: the trace's `decoder`.
  Trace attend(const std::string& text) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
