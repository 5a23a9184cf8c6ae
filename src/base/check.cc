#include "base/check.h"

#include <stdexcept>

namespace heed::internal {

void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(
      fmt::format("bug in heed: '{}' is false at {}:{}; please report it", condition, file, line));
}

}  // namespace heed::internal
