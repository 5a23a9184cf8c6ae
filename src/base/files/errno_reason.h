// The text of an error number of the system, for messages.
#pragma once

#include <string>
#include <system_error>

namespace heed {

/// "No such file or directory" for ENOENT.
inline std::string reason(int error_number) {
  return std::generic_category().message(error_number);
}

}  // namespace heed
