#include "search/rules/logit_rules.h"

#include <algorithm>
#include <utility>

#include "base/text/option_error.h"
#include "search/rules/forbidden_words.h"

namespace heed::search {
namespace {

void require_prefix(const LogitRules::Sentence& sentence, const models::AutoregressiveModel& model,
                    const std::vector<int32_t>& ends) {
  const auto size = static_cast<int64_t>(sentence.prefix.size());
  if (size > 0 && size >= sentence.max_length) {
    fail_option("$prefix has {} tokens, but the maximum length of a translation is {}", size,
                sentence.max_length);
  }
  for (const int32_t id : sentence.prefix) {
    const bool special = id == model.padding_id() || std::ranges::count(ends, id) > 0;
    if (id < 0 || id >= model.vocabulary_size() || special) {
      fail_option("$prefix contains the id {}, which is not in the vocabulary", id);
    }
  }
}

}  // namespace

float* TokenLogits::find(int32_t id) const {
  if (shortlist.empty()) return &values[id];
  const auto found = std::lower_bound(shortlist.begin(), shortlist.end(), id);
  return found != shortlist.end() && *found == id ? &values[found - shortlist.begin()] : nullptr;
}

void TokenLogits::forbid(int32_t id) const {
  if (float* logit = find(id)) *logit = kForbidden;
}

LogitRules::LogitRules(const SearchOptions& options, const models::AutoregressiveModel& model,
                       Sentence sentence)
    : sentence_(std::move(sentence)),
      forbidden_(options.forbidden_ids),
      begin_forbidden_(options.begin_forbidden_ids),
      second_forbidden_(options.second_forbidden_ids),
      forbidden_words_(options.forbidden_words),
      end_ids_(end_ids_of(options, model)),
      forced_end_(-1),
      min_length_(std::max(options.min_length - sentence_.prompt_length, options.min_new)),
      ngram_(static_cast<size_t>(options.no_repeat_ngram_size)),
      repetition_penalty_(static_cast<float>(options.repetition_penalty)),
      penalty_on_log_probabilities_(!options.sample && options.beam_size > 1) {
  require_prefix(sentence_, model, end_ids_);
  if (options.forced_begin_id >= 0) {
    sentence_.prefix.insert(sentence_.prefix.begin(), options.forced_begin_id);
  }
  if (options.force_end) {
    forced_end_ = options.forced_end_id;
    if (forced_end_ < 0 && !end_ids_.empty()) forced_end_ = end_ids_.front();
  }
  const int32_t padding = model.padding_id();
  const bool forbidden = model.forbids_padding() && std::ranges::count(end_ids_, padding) == 0;
  if (padding >= 0 && forbidden) forbidden_.push_back(padding);
}

std::optional<int32_t> LogitRules::forced(int64_t length) const {
  if (length < static_cast<int64_t>(sentence_.prefix.size())) return sentence_.prefix[length];
  if (forced_end_ >= 0 && length + 1 == sentence_.max_length) return forced_end_;
  return std::nullopt;
}

void LogitRules::apply(int64_t length, std::span<const int32_t> history, float log_sum,
                       const TokenLogits& logits) const {
  if (repetition_penalty_ != 1) penalize_repetition(history, log_sum, logits);
  if (ngram_ > 0) forbid_repeated_ngrams(history, logits);
  for (const int32_t id : forbidden_) logits.forbid(id);
  if (forbidden_words_ != nullptr) {
    for (const int32_t id : forbidden_words_->completing(history)) logits.forbid(id);
  }
  if (length == static_cast<int64_t>(sentence_.prefix.size())) {
    for (const int32_t id : begin_forbidden_) logits.forbid(id);
  }
  if (length == static_cast<int64_t>(sentence_.prefix.size()) + 1) {
    for (const int32_t id : second_forbidden_) logits.forbid(id);
  }
  if (length < min_length_) {
    for (const int32_t id : end_ids_) logits.forbid(id);
  }
}

void LogitRules::penalize_repetition(std::span<const int32_t> history, float log_sum,
                                     const TokenLogits& logits) const {
  const float shift = penalty_on_log_probabilities_ ? log_sum : 0;
  std::vector<int32_t> seen(history.begin(), history.end());
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const int32_t id : seen) {
    float* logit = logits.find(id);
    if (logit == nullptr) continue;
    const float score = *logit - shift;
    *logit = (score < 0 ? score * repetition_penalty_ : score / repetition_penalty_) + shift;
  }
}

/// Forbids tokens that would complete an n-gram that already occurred.
void LogitRules::forbid_repeated_ngrams(std::span<const int32_t> history, const TokenLogits& logits) const {
  if (history.size() < ngram_) return;
  const auto last = history.last(ngram_ - 1);
  for (size_t begin = 0; begin + ngram_ <= history.size(); ++begin) {
    const auto ngram = history.subspan(begin, ngram_);
    if (std::equal(last.begin(), last.end(), ngram.begin())) logits.forbid(ngram.back());
  }
}

}  // namespace heed::search
