#include "base/check.h"

#include <stdexcept>

namespace heed::internal {

void check_failed(const char* condition, const char* file, int line) {
  throw std::logic_error(
      fmt::format("heed has a bug: '{}' does not hold at {}:{}; please report it", condition, file, line));
}

}  // namespace heed::internal
