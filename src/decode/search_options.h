// How translations are searched for: what to find, what to forbid, when to stop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "models/generator.h"
#include "models/model_directory.h"

namespace heed::decode {

/// Sampling instead of searching for the likeliest words: p = softmax(logits / temperature), of
/// which only the top_k likeliest words are kept, of those the likeliest that together reach the
/// probability top_p (Holtzman et al., "The curious case of neural text degeneration", 2020), and of those
/// the ones that min_p lets through.
struct SamplingOptions {
  double temperature = 1;  ///< below 1 favours likely words, above 1 unlikely ones
  int top_k = 0;           ///< 0: all words
  double top_p = 1;        ///< 1: all words
  /// Only words at least so many times as likely as the likeliest (Nguyen et al., "Turning up the heat: min-p
  /// sampling", 2024); 0: all words.
  double min_p = 0;
  uint64_t seed = 1;  ///< what is drawn is a function of this, the sentence's number and the position alone
};

struct SearchOptions {
  /// Beam size; 1 is greedy search.
  int beam_size = 4;
  /// Translations wanted of each sentence, at most beam_size; with `sample`, as many are drawn independently.
  int nbest = 1;
  /// Hypotheses are compared by  (sum of log-probabilities) / n^length_penalty,  n the number of words with
  /// the end token. Sums are negative, so a larger penalty favours longer translations. This is what Marian
  /// and Hugging Face call so, not Google's ((5 + n) / 6)^alpha.
  double length_penalty = 1;
  /// When a sentence is done before max_length. With `beam_size` hypotheses finished: kTrue at once; kFalse
  /// as soon as the best running one would not beat the worst finished one if it ended now; kNever only when
  /// it could not at any length (the longest one, as Hugging Face reckons it).
  models::EarlyStopping early_stopping = models::EarlyStopping::kFalse;
  /// The longest translation, counted with the start token (a language model's whole prompt), the end token
  /// and a prefix, as Hugging Face counts; 0: as far as the model has positions.
  int64_t max_length = 0;
  /// Ids that are written behind start token or prompt at most, the end token counted; 0: no such limit.
  int64_t max_new = 0;
  /// Besides, a translation has at most max_length_factor * source + max_length_offset ids behind its prefix,
  /// with both end tokens counted: a model that has lost its way stops early. A factor of 0 sets no such
  /// limit.
  double max_length_factor = 3;
  int64_t max_length_offset = 10;
  /// The end tokens are forbidden while start token (or prompt) and ids are fewer than this.
  int64_t min_length = 0;
  /// The same, of what is written alone.
  int64_t min_new = 0;
  /// The ids that end a translation; none: the model's end token alone.
  std::vector<int32_t> end_ids = {};
  /// The id that every translation begins with, before its prefix, at no cost; -1: any.
  int32_t forced_begin_id = -1;
  /// No sequence of so many words occurs twice in a translation; 0: no such rule.
  int no_repeat_ngram_size = 0;
  /// Words that the hypothesis has already are made less likely (Keskar et al., "CTRL", 2019): a negative
  /// score is multiplied by this, a positive one divided. The score is the log-probability, or the logit
  /// where the search is greedy or samples, as in Hugging Face. 1: no change.
  double repetition_penalty = 1;
  /// Ids that no translation may hold. Padding is always forbidden.
  std::vector<int32_t> forbidden_ids = {};
  /// Ids that no translation may begin with, behind what is forced.
  std::vector<int32_t> begin_forbidden_ids = {};
  /// The words that a translation may hold, by those of its source; null: all words. Not used where words are
  /// drawn.
  std::shared_ptr<const models::Shortlist> shortlist = {};
  /// Whether that holds for several hypotheses too, whose scores are then of different words.
  bool shortlist_in_beams = true;
  /// Where a translation reaches its limit, the end token follows, at no cost.
  bool force_end = true;
  /// Which of several: -1 for the model's own.
  int32_t forced_end_id = -1;
  /// Probabilities are of the words that the rules allow; else forbidden words keep their share, and nobody
  /// gets it.
  bool renormalize = true;
  /// Whether a translation ends behind these ids, though it has no end token. Asked again and again with one
  /// id more; the same answer for the same ids.
  std::function<bool(std::span<const int32_t> ids)> ends = {};

  /// Whether each id continues a word: for required phrases, which end where a word ends. Null: none does.
  std::shared_ptr<const std::vector<bool>> continues_word = {};

  /// Draw translations instead of searching; beam_size is then not used.
  bool sample = false;
  SamplingOptions sampling = {};
};

/// For continuing a text: no limits that come from translation, and no end token at the limit.
SearchOptions continuation_options();

/// For translations: what a model directory says, its shortlist if that is to be used, and everything else as
/// above.
SearchOptions search_options_of(const models::LoadedModel& model);

/// For continuing a text: what a model directory says, and continuation_options(). Texts are drawn, among the
/// tokens that together reach the probability kUsualTopP, unless the directory says otherwise.
SearchOptions continuation_options_of(const models::LoadedModel& model);
constexpr double kUsualTopP = 0.9;
constexpr int64_t kUsualMaxNew = 256;  ///< tokens, where nothing says how many

/// Whether a search with these options keeps to its shortlist.
bool uses_shortlist(const SearchOptions& options);

/// The ids that end what this model writes; none where nothing does.
std::vector<int32_t> end_ids_of(const SearchOptions& options, const models::Generator& model);

/// Throws kUsage for options that make no sense by themselves, or for this model.
void require_valid(const SearchOptions& options, const models::Generator& model);

/// Counts of ids.
struct SentenceLengths {
  size_t source = 0;     ///< end token included
  size_t beginning = 1;  ///< what stands before the first word: the start token, or a prompt
  size_t prefix = 0;
};
/// Ids that a translation may have, beginning not counted, prefix and end token counted. At least 1.
int64_t max_translation_length(const SearchOptions& options, const models::Generator& model,
                               const SentenceLengths& lengths);

}  // namespace heed::decode
