// SharedSearch where there are no threads to share: every call is done at once, by the thread that makes it.
// In place of shared_search.cc.
#include <utility>

#include "search/shared_search.h"

namespace heed::search {

struct SharedSearch::Lane {};
struct SharedSearch::Call {};

SharedSearch::SharedSearch(Options options) : options_(std::move(options)) {}

SharedSearch::~SharedSearch() = default;

void SharedSearch::run(const Search& search, std::vector<SearchSentence> sentences,
                       const Search::TakeHypotheses& take, const Search::Control& control) {
  bool given = false;
  search.run(
      [&](const SearchRoom&) {
        return std::exchange(given, true) ? std::vector<SearchSentence>{} : std::move(sentences);
      },
      take, control);
}

void SharedSearch::call(const std::string& /*client*/, const std::function<void()>& work) {
  work();
}

size_t SharedSearch::waiting() const {
  return 0;
}

}  // namespace heed::search
