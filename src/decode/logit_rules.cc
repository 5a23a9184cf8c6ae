#include "decode/logit_rules.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"

namespace heed::decode {
namespace {

constexpr float kForbidden = -std::numeric_limits<float>::infinity();

void require_prefix(const LogitRules::Sentence& sentence, const models::Generator& model) {
  if (static_cast<int64_t>(sentence.prefix.size()) >= sentence.longest) {
    fail(ErrorKind::kUsage, "the prefix has {} tokens, which leaves no room in a translation of at most {}",
         sentence.prefix.size(), sentence.longest);
  }
  for (const int32_t id : sentence.prefix) {
    if (id < 0 || id >= model.vocabulary_size() || id == model.end_id() || id == model.padding_id()) {
      fail(ErrorKind::kUsage, "the prefix holds the id {}, which is no word of the vocabulary", id);
    }
  }
}

}  // namespace

float* WordLogits::find(int32_t id) const {
  if (words.empty()) return &values[id];
  const auto place = std::lower_bound(words.begin(), words.end(), id);
  return place != words.end() && *place == id ? &values[place - words.begin()] : nullptr;
}

void WordLogits::forbid(int32_t id) const {
  if (float* logit = find(id)) *logit = kForbidden;
}

LogitRules::LogitRules(const SearchOptions& options, const models::Generator& model, Sentence sentence)
    : sentence_(std::move(sentence)),
      forbidden_(options.forbidden_ids),
      end_id_(model.end_id()),
      min_length_(options.min_length),
      ngram_(static_cast<size_t>(options.no_repeat_ngram_size)),
      repetition_penalty_(static_cast<float>(options.repetition_penalty)),
      penalty_on_log_probabilities_(!options.sample && options.beam_size > 1),
      force_end_(options.force_end) {
  require_prefix(sentence_, model);
  if (model.padding_id() >= 0 && model.padding_id() != end_id_) forbidden_.push_back(model.padding_id());
}

std::optional<int32_t> LogitRules::forced(int64_t length) const {
  if (length < static_cast<int64_t>(sentence_.prefix.size())) return sentence_.prefix[length];
  if (force_end_ && end_id_ >= 0 && length + 1 == sentence_.longest) return end_id_;
  return std::nullopt;
}

void LogitRules::apply(int64_t length, std::span<const int32_t> history, float log_sum,
                       const WordLogits& logits) const {
  if (repetition_penalty_ != 1) penalize_repetition(history, log_sum, logits);
  if (ngram_ > 0) forbid_repeated_ngrams(history, logits);
  for (const int32_t id : forbidden_) logits.forbid(id);
  if (end_id_ >= 0 && length + 1 < min_length_) logits.forbid(end_id_);
}

void LogitRules::penalize_repetition(std::span<const int32_t> history, float log_sum,
                                     const WordLogits& logits) const {
  const float shift = penalty_on_log_probabilities_ ? log_sum : 0;
  std::vector<int32_t> words(history.begin(), history.end());
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  for (const int32_t id : words) {
    float* logit = logits.find(id);
    if (logit == nullptr) continue;
    const float score = *logit - shift;
    *logit = (score < 0 ? score * repetition_penalty_ : score / repetition_penalty_) + shift;
  }
}

/// A word is forbidden where, behind the last n - 1 words, it would make an n-gram that is there already.
void LogitRules::forbid_repeated_ngrams(std::span<const int32_t> history, const WordLogits& logits) const {
  if (history.size() < ngram_) return;
  const auto last = history.last(ngram_ - 1);
  for (size_t begin = 0; begin + ngram_ <= history.size(); ++begin) {
    const auto ngram = history.subspan(begin, ngram_);
    if (std::equal(last.begin(), last.end(), ngram.begin())) logits.forbid(ngram.back());
  }
}

}  // namespace heed::decode
