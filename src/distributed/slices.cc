#include "distributed/slices.h"

#include <algorithm>

#include "base/check.h"

namespace heed::distributed {

Slices::Slices(int64_t elements, int ranks, int64_t block) {
  HEED_CHECK(elements >= 0 && ranks > 0 && block > 0);
  const int64_t blocks = (elements + block - 1) / block;
  for (int64_t rank = 0; rank <= ranks; ++rank) {
    bounds_.push_back(std::min(blocks * rank / ranks * block, elements));
  }
}

}  // namespace heed::distributed
