// Continuing texts with a language model: a prompt in, what follows out, as it is written or all at once.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/thread_pool.h"
#include "decode/search.h"
#include "models/language_model.h"
#include "text/text_tokenizer.h"

namespace heed::decode {

struct TextGeneratorOptions {
  /// How words are chosen; nbest is the number of texts for each prompt.
  SearchOptions search = continuation_options();
  SearchBudget budget = {};  ///< of each thread
  /// A text ends before the first of these that it would hold.
  std::vector<std::string> stops = {};
  bool ignore_end = false;      ///< the end token is forbidden: write on
  bool special_tokens = false;  ///< special tokens that a prompt spells out are such tokens
  size_t window = 256;          ///< prompts that are read at a time
  /// Where searches run, together with those of others; null: on the generator's own pool.
  SearchExecutor* executor = nullptr;
};

/// Why a text ends where it does.
enum class TextEnding {
  kEnd,        ///< the model ended it
  kStop,       ///< a stop text came
  kLength,     ///< as long as was asked for
  kPositions,  ///< the model has no positions for more
};
const char* name_of(TextEnding ending);

/// What a model wrote behind a prompt.
struct GeneratedText {
  std::string text;  ///< valid UTF-8
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;  ///< of each id, under the model itself
  double log_probability = 0;            ///< their sum
  TextEnding ending = TextEnding::kEnd;
};

struct Generation {
  std::string prompt;
  std::vector<int32_t> prompt_ids;
  std::vector<GeneratedText> texts;  ///< the likeliest first
};

class TextGenerator {
 public:
  /// All of these must outlive the generator. Throws kUsage for options that make no sense.
  TextGenerator(const models::LanguageModel& model, const nn::Context& context,
                const TextTokenizer& tokenizer, ThreadPool& pool, TextGeneratorOptions options = {});

  struct Control {
    const std::atomic<bool>* cancelled = nullptr;  ///< stops soon after it is set
    /// Told of the text as it is written, in whole characters, where there is one text of one prompt.
    std::function<void(std::string_view text)> show = {};
  };

  /// Continues prompts until there are no more; `take` gets them in order on the calling thread. What is
  /// written depends on the options, the prompt, its number and nothing else. Returns false where it was
  /// cancelled. Throws kUsage for a prompt that is longer than the model's positions, naming its number.
  bool generate(const NextLine& next, const std::function<void(Generation)>& take,
                const Control& control) const;
  /// One prompt, number `number`. Where it was cancelled, what there is.
  Generation generate(const std::string& prompt, uint64_t number, const Control& control) const;
  Generation generate(const std::string& prompt) const { return generate(prompt, 0, {}); }

 private:
  GeneratedText text_of(const std::vector<int32_t>& prompt, Hypothesis hypothesis) const;
  SearchOptions with_rules(const TextGeneratorOptions& options) const;
  SearchSentence sentence(const std::string& prompt, uint64_t number) const;
  bool search(std::vector<SearchSentence> sentences, const Search::TakeHypotheses& take,
              const Search::Control& control) const;
  /// Whether the text of these ids holds a stop text that it did not hold before the last of them.
  bool stops(std::span<const int32_t> ids) const;

  const models::LanguageModel& model_;
  nn::Context context_;
  const TextTokenizer& tokenizer_;
  ThreadPool& pool_;
  TextGeneratorOptions options_;
  std::vector<int32_t> end_ids_;  // each of which ends a text
  Search search_;
};

/// What may be shown of a text under way: not what stands behind a stop text, nor what may become one.
class StopFilter {
 public:
  explicit StopFilter(const std::vector<std::string>& stops) : stops_(stops) {}
  /// More text; what of it can be shown by now.
  std::string push(std::string_view text);
  /// What was held back, where no stop text came.
  std::string finish();

 private:
  const std::vector<std::string>& stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heed::decode
