// Text generation with a language model, streamed or at once.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/stop.h"
#include "base/thread_pool.h"
#include "models/language_model.h"
#include "search/search.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed::tasks {

struct TextGeneratorOptions {
  /// Search or sampling options; nbest is the number of samples per prompt.
  heed::search::SearchOptions search = heed::search::continuation_options();
  heed::search::SearchBudget budget = {};  ///< per thread
  /// Stop texts: a text ends before the first of these.
  std::vector<std::string> stops = {};
  bool ignore_end = false;      ///< suppress the end token
  bool special_tokens = false;  ///< parse special tokens in prompts
  size_t window = 256;          ///< number of prompts to read at a time
  /// Runs searches together with those of other callers; null: on the generator's own pool.
  heed::search::SearchExecutor* executor = nullptr;
};

/// Why a text ended.
enum class TextEnding {
  kEnd,        ///< end token
  kStop,       ///< stop text
  kLength,     ///< requested maximum length
  kPositions,  ///< the model's maximum length
};
const char* name_of(TextEnding ending);

/// The continuation of a prompt.
struct GeneratedText {
  std::string text;  ///< valid UTF-8
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;  ///< of each id, under the unmodified distribution
  double log_probability = 0;            ///< their sum
  TextEnding ending = TextEnding::kEnd;
};

struct Generation {
  std::string prompt;
  std::vector<int32_t> prompt_ids;
  std::vector<GeneratedText> texts;  ///< in descending order of scores
};

class TextGenerator {
 public:
  /// All arguments must outlive the generator. Throws kUsage for invalid options.
  TextGenerator(const models::LanguageModel& model, const nn::Context& context,
                const ModelTokenizer& tokenizer, ThreadPool& pool, TextGeneratorOptions options = {});

  struct Control {
    Stop stop = {};
    /// Streams the text in whole characters, for a single sample of a single prompt.
    std::function<void(std::string_view text)> show = {};
    /// Called with each new token, before the text that it completes is shown. Not in beam search, whose text
    /// is shown when it is finished. Only used with `show`.
    std::function<void(int32_t id)> show_token = {};
    uint64_t first_prompt = 0;  ///< number of the first prompt
  };

  /// Continues all prompts; `take` receives the results in order on the calling thread. A result depends only
  /// on options, prompt and prompt number. Throws Cancelled soon after control.stop is requested, and kUsage,
  /// with the prompt number, for a prompt longer than the model's maximum.
  void generate(const NextLine& next, const std::function<void(Generation)>& take,
                const Control& control) const;
  /// Continues one prompt with this number. Throws the same.
  Generation generate(const std::string& prompt, uint64_t number, const Control& control) const;
  Generation generate(const std::string& prompt) const { return generate(prompt, 0, {}); }
  /// The prompt with as many texts as generate() gives, without any tokens. Throws kUsage as generate().
  Generation without_tokens(const std::string& prompt, uint64_t number) const;

 private:
  GeneratedText text_of(const std::vector<int32_t>& prompt, search::Hypothesis hypothesis) const;
  search::SearchOptions with_rules(const TextGeneratorOptions& options) const;
  search::SearchSentence sentence(const std::string& prompt, uint64_t number) const;
  void run_search(std::vector<search::SearchSentence> sentences, const search::Search::TakeHypotheses& take,
                  const search::Search::Control& control) const;
  /// Whether the last of these ids completes a stop text.
  bool stops(std::span<const int32_t> ids) const;

  const models::LanguageModel& model_;
  nn::Context context_;
  const ModelTokenizer& tokenizer_;
  ThreadPool& pool_;
  TextGeneratorOptions options_;
  std::vector<int32_t> end_ids_;  // end token ids
  search::Search search_;
};

/// Filters streamed text: withholds stop texts, what follows them, and possible beginnings of stop texts.
class StopFilter {
 public:
  explicit StopFilter(const std::vector<std::string>& stops) : stops_(stops) {}
  /// Adds text; returns what can be shown now.
  std::string push(std::string_view text);
  /// The withheld text, if no stop text occurred.
  std::string finish();

 private:
  const std::vector<std::string>& stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heed::tasks
