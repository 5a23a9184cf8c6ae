// A text as a model of any task reads it, and the tokens that it predicts: what the lens and attribution look
// at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/reading/model_input.h"
#include "models/directory/loaded_model.h"
#include "search/rules/search_options.h"
#include "text/tokenizers/tokenizer.h"
#include "text/tokenizers/translation_tokenizer.h"

namespace heed {

/// A loaded model with its tokenizer; both must outlive this.
struct InspectedModel {
  const models::LoadedModel& loaded;
  const TranslationTokenizer* translation = nullptr;  ///< of a model that translates
  const ModelTokenizer* tokenizer = nullptr;          ///< of other models
  search::SearchOptions search = {};                  ///< for a model's own translation

  const models::Model& model() const { return *loaded.model; }
  models::Task task() const { return loaded.model->task(); }
  /// How a predicted token is shown, and how many there are.
  std::string piece(int32_t id) const;
  int32_t pieces() const;
  /// The id of a token as `piece` shows it, or of a text of a single token.
  std::optional<int32_t> find(const std::string& token) const;
  /// The index of a class of a classifier. Throws kUsage for a label that it does not have.
  int32_t find_class(const std::string& label) const;
  /// The name of a directory, as traces have it.
  std::string name() const;
};

struct Reading {
  std::string source{}, target{};
  // What the stacks read; empty for a stack that the model does not have.
  std::vector<int32_t> source_ids{}, decoder_ids{}, types{};
  std::vector<std::string> encoder_tokens{}, decoder_tokens{};
  std::vector<bool> source_special{}, decoder_special{};  ///< whether it is a special token around a text

  // The predictions.
  std::vector<int32_t> target_ids{};         ///< of tokens, or of a class
  std::vector<std::string> target_tokens{};  ///< likewise
  std::vector<int32_t> rows{};  ///< the position of the stack that predicts, for each of target_ids
  /// The row of decoder_ids with the first of target_ids: 1 in a translation, after the start token; the
  /// length of the prompt in a language model.
  int32_t first_target_row = 0;

  bool has_encoder() const { return !source_ids.empty(); }
  bool has_decoder() const { return !decoder_ids.empty(); }
  /// The tokens of the text: those of the encoder, or of a language model's prompt.
  std::vector<std::string> source_tokens() const;
  ModelInput input() const;
};

/// Reads a text. `target` is a translation, what follows the text of a language model, a label, or the tokens
/// for the masks of a masked language model; empty: the model's own prediction (of a language model, the
/// likeliest next token). Throws kUsage for a text or target without tokens or longer than the model's
/// maximum, for an unknown label, and if the number of tokens is not that of the masks.
Reading read_text(const InspectedModel& model, const std::string& text, const std::string& target);

/// Reads another text, which is to predict the same tokens as `reading`. Throws kUsage for a text without
/// tokens or longer than the model's maximum, and for another number of mask tokens.
Reading read_another(const InspectedModel& model, const std::string& text, const Reading& reading);

}  // namespace heed
