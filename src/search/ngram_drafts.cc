#include "search/ngram_drafts.h"

#include <algorithm>

namespace heed::search {

/// Drafts are checked by the model, so equal hashes of different n-grams do no harm.
uint64_t NgramDrafts::last_ngram() const {
  uint64_t hash = 0;
  for (size_t n = text_.size() - kNgram; n < text_.size(); ++n) {
    hash = (hash ^ static_cast<uint32_t>(text_[n])) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return hash;
}

void NgramDrafts::append(int32_t id) {
  if (most_ == 0) return;
  if (text_.size() >= kNgram) after_[last_ngram()] = text_.size();
  text_.push_back(id);
}

std::vector<int32_t> NgramDrafts::next(size_t room) {
  drafted_ = 0;
  if (most_ == 0 || text_.size() < kNgram) return {};
  if (wait_ > 0) {
    --wait_;
    return {};
  }
  const auto found = after_.find(last_ngram());
  if (found == after_.end()) return {};
  drafted_ = std::min({static_cast<size_t>(most_), text_.size() - found->second, room});
  const auto first = text_.begin() + static_cast<std::ptrdiff_t>(found->second);
  return {first, first + static_cast<std::ptrdiff_t>(drafted_)};
}

void NgramDrafts::report(size_t right) {
  if (drafted_ == 0) return;
  failures_ = right > 0 ? 0 : failures_ + 1;
  if (right == 0) wait_ = failures_ < 5 ? 2 << failures_ : kLongestWait;
}

}  // namespace heed::search
