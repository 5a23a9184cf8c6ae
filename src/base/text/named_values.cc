#include "base/text/named_values.h"

namespace heed {

std::string alternatives(const std::vector<std::string>& names) {
  std::string list;
  for (size_t n = 0; n < names.size(); ++n) {
    if (n > 0) list += n + 1 < names.size() ? ", " : " or ";
    list += names[n];
  }
  return list;
}

}  // namespace heed
