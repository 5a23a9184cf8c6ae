// Text generation with a language model.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/cancel.h"
#include "heed/error.h"
#include "heed/trace.h"

namespace heed {

/// Unset options are taken from the model's generation_config.json, or else have the value in brackets.
/// docs/language-models.md has their ranges. An option of sampling that is set turns sampling on.
struct GenerateOptions {
  std::optional<int64_t> max_tokens{};  ///< maximum number of new tokens [256]
  std::vector<std::string> stop{};      ///< the text ends before the first of these
  bool ignore_end = false;              ///< never generate the end token
  bool special_tokens = false;          ///< parse special tokens in prompts, such as <|endoftext|>
  bool greedy = false;                  ///< greedy search instead of sampling
  std::optional<int> beam{};            ///< beam search of this size instead of sampling
  std::optional<double> temperature{};  ///< of sampling; 0: greedy search [1]
  std::optional<int> top_k{};           ///< sample from the k most probable tokens; 0: all [0]
  std::optional<double> top_p{};   ///< sample from the most probable tokens with this total probability [0.9]
  std::optional<double> min_p{};   ///< minimum probability relative to the most probable token; 0: all [0]
  std::optional<uint64_t> seed{};  ///< of sampling: the same seed gives the same text [1]
  /// Values above 1 penalize tokens that already occur in prompt or text [1].
  std::optional<double> repetition_penalty{};

  /// Most tokens that are guessed from repeated n-grams of prompt and text, and checked in one step; the text
  /// is the same. 0: none [4].
  std::optional<int> draft_tokens{};

  /// Set by another thread: the call throws Cancelled soon after.
  const std::atomic<bool>* cancelled = nullptr;
};

/// A loaded language model. Thread-safe.
class Generator {
 public:
  /// Opens the directory of a language model in Hugging Face's layout (docs/models.md). `threads` 0: one per
  /// processor; results do not depend on it. Throws Error.
  explicit Generator(const std::string& directory, int threads = 0);
  ~Generator();
  Generator(Generator&&) noexcept;
  Generator& operator=(Generator&&) noexcept;

  // All functions throw Error: kText for invalid UTF-8, kUsage for invalid options.

  /// Called with each new part of a text, in whole characters (streaming). What it throws ends the call and
  /// reaches the caller.
  using Show = std::function<void(std::string_view text)>;
  /// Generates the continuation of a prompt.
  std::string generate(const std::string& prompt, const GenerateOptions& options = {},
                       const Show& show = {}) const;
  /// Generates a continuation of each prompt, in batches on all threads.
  std::vector<std::string> generate(const std::vector<std::string>& prompts,
                                    const GenerateOptions& options = {}) const;
  /// Generates several continuations of a prompt, most probable first; with `beam` or `greedy`, at most the
  /// beam size.
  std::vector<std::string> samples(const std::string& prompt, int count,
                                   const GenerateOptions& options = {}) const;

  /// log P(text), conditional on the first token if the model has no start token; and perplexity, exp of the
  /// mean negative log-probability per token. perplexity() throws kUsage for a text without a token to score.
  double log_probability(const std::string& text) const;
  double perplexity(const std::string& text) const;

  /// The attention weights of all heads and layers for a text, in the trace's `decoder`. `ablate` as in
  /// Translator::attend.
  Trace attend(const std::string& text, const std::vector<std::string>& ablate = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace heed
