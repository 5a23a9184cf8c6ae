// Continuing texts with a language model's directory: a prompt in, what follows out, as it is written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/error.h"
#include "heed/trace.h"

namespace heed {

/// Where an option is not set, the model's generation_config.json decides; where that says nothing either,
/// the value in brackets.
struct GenerateOptions {
  std::optional<int64_t> max_tokens{};  ///< written at most [256]
  bool greedy = false;                  ///< always the likeliest token, instead of drawing one
  int beam = 0;  ///< search for the likeliest text with so many hypotheses; 0: as the directory says [draw]
  std::optional<double> temperature{};  ///< above 0; below 1 favours likely tokens, above 1 unlikely ones [1]
  std::optional<int> top_k{};           ///< draw among so many of the likeliest; 0: all [0]
  std::optional<double> top_p{};  ///< draw among the likeliest that reach this probability; 1: all [0.9]
  std::optional<double> min_p{};  ///< draw among those so many times as likely as the likeliest; 0: all [0]
  /// Above 1 makes tokens of prompt and text so far less likely [1].
  std::optional<double> repetition_penalty{};
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

  // All functions throw Error: kText for what is not UTF-8, kUsage for options that make no sense.

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
