// The queue of sentences to translate, shared by the searches of several threads.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "search/hypothesis.h"

namespace heed::search {

/// The free capacity of a batch.
struct SearchRoom {
  size_t sentences = 0;
  size_t tokens = 0;          ///< total source tokens
  bool at_least_one = false;  ///< take one sentence even if it exceeds `tokens`
};

/// First in, first out. Thread-safe.
class WorkQueue {
 public:
  /// For at most `takers` searches.
  WorkQueue(std::vector<SearchSentence> sentences, int takers);

  /// The number of searches to start: min(`takers`, number of sentences), at least 1.
  size_t takers() const { return takers_; }

  /// The next sentences: as many as fit, but at most a fair share of the remaining ones, so that all threads
  /// finish at about the same time.
  std::vector<SearchSentence> take(const SearchRoom& room);

 private:
  std::mutex mutex_;
  std::vector<SearchSentence> sentences_;
  size_t next_ = 0;
  size_t takers_;
};

}  // namespace heed::search
