// Options of search and sampling.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/autoregressive_model.h"
#include "models/directory/loaded_model.h"
#include "search/rules/piece_start.h"

namespace heed::search {

/// Sampling from p = softmax(logits / temperature), filtered in this order: the top_k most probable tokens;
/// of those, the most probable ones with total probability top_p (Holtzman et al., "The curious case of
/// neural text degeneration", 2020); of those, the ones that pass min_p.
struct SamplingOptions {
  double temperature = 1;  ///< below 1 sharpens the distribution, above 1 flattens it; 0: greedy search
  int top_k = 0;           ///< 0: all tokens
  double top_p = 1;        ///< 1: all tokens

  /// Minimum probability relative to the most probable token (Nguyen et al., "Turning up the heat: min-p
  /// sampling", 2024); 0: all tokens.
  double min_p = 0;
  uint64_t seed = 1;  ///< samples depend only on this, the sentence number and the position
};

class ForbiddenWords;

struct SearchOptions {
  /// Beam size; 1 is greedy search.
  int beam_size = 4;
  /// Number of translations per sentence, at most beam_size; with `sample`, the number of independent
  /// samples.
  int nbest = 1;
  /// Hypotheses are ranked by (sum of log-probabilities) / n^length_penalty, n the number of tokens with the
  /// end token. Sums are negative, so a larger value favours longer translations. As in Marian and Hugging
  /// Face, not Google's ((5 + n) / 6)^alpha.
  double length_penalty = 1;
  /// When a sentence is finished before max_length, given `beam_size` finished hypotheses: kTrue: at once;
  /// kFalse: when the best running hypothesis could not beat the worst finished one at its current length;
  /// kNever: when it could not at the maximum length, as in Hugging Face.
  models::EarlyStopping early_stopping = models::EarlyStopping::kFalse;
  /// Maximum length, including start token (for language models the whole prompt), end token and prefix, as
  /// in Hugging Face; 0: the model's maximum.
  int64_t max_length = 0;
  /// Maximum number of new ids after start token or prompt, including the end token; 0: no limit.
  int64_t max_new = 0;
  /// A translation also has at most max_length_factor * source + max_length_offset ids after its prefix,
  /// including both end tokens, which limits degenerate output. Factor 0: no such limit.
  double max_length_factor = 3;
  int64_t max_length_offset = 10;
  /// End tokens are suppressed until start token (or prompt) and ids reach this length.
  int64_t min_length = 0;
  /// The same for new ids only.
  int64_t min_new = 0;
  /// The ids that end a translation; empty: the model's end token.
  std::vector<int32_t> end_ids = {};
  /// The forced first id of every translation, before its prefix, not scored; -1: none.
  int32_t forced_begin_id = -1;
  /// Blocks repeated n-grams of this many tokens; 0: off.
  int no_repeat_ngram_size = 0;
  /// Penalizes tokens that already occurred (Keskar et al., "CTRL", 2019): negative scores are multiplied by
  /// this, positive ones divided. The score is the log-probability, or in greedy search and sampling the
  /// logit, as in Hugging Face. 1: off.
  double repetition_penalty = 1;
  /// Ids that are never generated; also padding, if AutoregressiveModel::forbids_padding().
  std::vector<int32_t> forbidden_ids = {};
  /// Words that are never generated, whichever tokens write them; null: none. Applies to prompts too: a
  /// token that completes a word begun there is suppressed.
  std::shared_ptr<const ForbiddenWords> forbidden_words = {};
  /// Ids that are not generated in the first position after forced ids.
  std::vector<int32_t> begin_forbidden_ids = {};
  /// Ids that must not be the second token.
  std::vector<int32_t> second_forbidden_ids = {};
  /// Vocabulary shortlist; null: none. Not used in sampling.
  std::shared_ptr<const models::Shortlist> shortlist = {};
  /// Whether the shortlist is also used in beam search.
  bool shortlist_in_beams = true;
  /// Appends the end token at the maximum length, not scored.
  bool force_end = true;
  /// Which end token; -1: the model's.
  int32_t forced_end_id = -1;
  /// Renormalizes probabilities over the allowed tokens; otherwise suppressed tokens keep their probability
  /// mass.
  bool renormalize = true;
  /// Additional stopping criterion: whether generation ends after these ids. Called after each id; must be
  /// deterministic.
  std::function<bool(std::span<const int32_t> ids)> ends = {};

  /// For each id. Required phrases must end where a word or number ends; null: anywhere.
  std::shared_ptr<const std::vector<PieceStart>> piece_starts = {};

  /// Most tokens that are guessed from repeated n-grams and checked in one step (ngram_drafts.h), for
  /// searches with one hypothesis that run alone; 0: none. The result is the same.
  int draft_tokens = 0;

  /// Sample instead of beam search; beam_size is ignored.
  bool sample = false;
  SamplingOptions sampling = {};
};

/// Defaults for language models: without the limits of translation and without an end token at the maximum
/// length.
SearchOptions continuation_options();

/// Options for translation from the settings of a model directory, with its shortlist if enabled.
SearchOptions search_options_of(const models::LoadedModel& model);

/// Options for language models from the settings of a model directory and continuation_options(). The default
/// is nucleus sampling with kUsualTopP.
SearchOptions continuation_options_of(const models::LoadedModel& model);
constexpr double kUsualTopP = 0.9;
/// Number of new tokens for models without max_length and max_new_tokens.
constexpr int64_t kUsualMaxNew = 256;

/// Sampling at temperature 0 is greedy search, and is done by it.
SearchOptions with_greedy_at_zero(SearchOptions options);

/// Whether a search with these options uses a shortlist.
bool uses_shortlist(const SearchOptions& options);

/// The end token ids; empty if there are none.
std::vector<int32_t> end_ids_of(const SearchOptions& options, const models::AutoregressiveModel& model);

/// Throws kUsage for options that are invalid, or invalid for this model.
void require_valid(const SearchOptions& options, const models::AutoregressiveModel& model);

/// Numbers of ids.
struct SentenceLengths {
  size_t source = 0;  ///< including the end token
  size_t prompt = 1;  ///< length of the start token or the prompt
  size_t prefix = 0;
};
/// Maximum number of ids of a translation, without the start token or prompt, with prefix and end token. At
/// least 1.
int64_t max_translation_length(const SearchOptions& options, const models::AutoregressiveModel& model,
                               const SentenceLengths& lengths);

}  // namespace heed::search
