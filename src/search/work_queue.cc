#include "search/work_queue.h"

#include <algorithm>
#include <utility>

namespace heed::search {

WorkQueue::WorkQueue(std::vector<SearchSentence> sentences, int takers)
    : sentences_(std::move(sentences)),
      takers_(std::clamp<size_t>(sentences_.size(), 1, static_cast<size_t>(std::max(takers, 1)))) {}

std::vector<SearchSentence> WorkQueue::take(const SearchRoom& room) {
  const std::lock_guard lock(mutex_);
  const size_t left = sentences_.size() - next_;
  const size_t share = (left + takers_ - 1) / takers_;
  const size_t most = std::min(share, std::max<size_t>(room.sentences, room.at_least_one ? 1 : 0));
  std::vector<SearchSentence> taken;
  for (size_t tokens = 0; taken.size() < most; ++next_) {
    tokens += sentences_[next_].source.size();
    if (tokens > room.tokens && !(room.at_least_one && taken.empty())) break;
    taken.push_back(std::move(sentences_[next_]));
  }
  return taken;
}

}  // namespace heed::search
