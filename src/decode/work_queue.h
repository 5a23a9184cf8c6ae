// Sentences that wait to be translated, shared by the searches of several threads.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "decode/hypothesis.h"

namespace heed::decode {

/// How much a search has room for.
struct SearchRoom {
  size_t sentences = 0;
  size_t tokens = 0;          ///< of their sources, all together
  bool at_least_one = false;  ///< a sentence is wanted even if it is longer than that
};

/// First in, first out. Thread-safe.
class WorkQueue {
 public:
  /// At most `takers` searches will share the sentences.
  WorkQueue(std::vector<SearchSentence> sentences, int takers);

  /// How many searches there is work for: as many as asked for, or as there are sentences, and at least one.
  size_t takers() const { return takers_; }

  /// The next sentences, as many as there is room for, but no more than a fair share of what is left: so
  /// nobody is without work at the end while another has much of it.
  std::vector<SearchSentence> take(const SearchRoom& room);

 private:
  std::mutex mutex_;
  std::vector<SearchSentence> sentences_;
  size_t next_ = 0;
  size_t takers_;
};

}  // namespace heed::decode
