// What `logprobs` of /v1/completions asks for: the tokens of a text with their log-probabilities, and the
// likeliest tokens at their positions.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/service.h"
#include "tasks/text_generator.h"

namespace heed::serve {

/// The entry of one token in the four lists of `logprobs`.
struct TokenEntry {
  std::string token;
  std::optional<float> log_probability = {};  ///< none for a token that nothing precedes
  /// The likeliest tokens at its position, if they were asked for.
  std::optional<std::vector<std::pair<std::string, float>>> likeliest = {};
  std::vector<float> log_sums = {};  ///< search::log_sums_at() the temperatures that were asked for
  size_t offset = 0;                 ///< in the text, in characters
  bool special = false;
};

/// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, and "log_sums" if there are some.
nlohmann::ordered_json to_json(const std::vector<TokenEntry>& entries);

class TokenProbabilities {
 public:
  /// `alternatives`: how many likeliest tokens to list at each position.
  TokenProbabilities(const Exchange& exchange, const ServedModel& model, size_t alternatives)
      : exchange_(exchange),
        files_(*model.language_model),
        alternatives_(alternatives),
        temperatures_(temperatures_of(exchange.fields)) {}

  /// Of a whole text, computed on a thread of the engine: the tokens after the prompt, with `echo` those of
  /// the prompt too, without tokens past the end of `text`.
  nlohmann::ordered_json of(const tasks::Generation& generation, const tasks::GeneratedText& text,
                            bool echo) const;

  /// The entries of `ids`, read in one pass, from the one at index `first` on. The first of all has no
  /// log-probability, and no entry if it is a start token. Offsets are in `text` only if `first` is 0. On the
  /// calling thread.
  std::vector<TokenEntry> of_ids(const std::vector<int32_t>& ids, size_t first,
                                 const std::string& text) const;
  /// The entry of a token, given the logits (V) at its position.
  TokenEntry entry(int32_t id, std::span<const float> logits, float log_sum) const;

  const tasks::LanguageModelFiles& files() const { return files_; }

 private:
  std::string name_of(int32_t id) const;

  const Exchange& exchange_;
  const tasks::LanguageModelFiles& files_;
  size_t alternatives_;
  std::vector<double> temperatures_;
};

/// The same for a text as it is written: each part comes with the tokens that begin in it. Computes on the
/// calling thread, one step of the model for each token.
class StreamedProbabilities {
 public:
  StreamedProbabilities(const TokenProbabilities& probabilities, const std::string& prompt, bool echo);

  void push(int32_t id);
  /// For the next part of the text.
  nlohmann::ordered_json take(std::string_view part);
  /// For the end of the text: what is left of it, and end tokens; null if nothing is.
  nlohmann::ordered_json take_rest(const tasks::GeneratedText& text);

 private:
  const TokenProbabilities& probabilities_;
  nn::Context context_;
  std::unique_ptr<models::DecoderState> state_;
  int32_t sentence_ = 0;                       // in the state
  int32_t last_ = 0, row_ = -1;                // the last token, not read yet; its row in the step before
  TextStream stream_;                          // says how many characters the tokens so far have
  size_t begin_ = 0, pushed_ = 0, shown_ = 0;  // characters of the prompt; with the tokens; with the parts
  std::deque<TokenEntry> entries_;
};

}  // namespace heed::serve
