// Cancellation of a call by another thread.
#pragma once

#include <exception>

namespace heed {

/// Thrown by a call whose option `cancelled` was set while it ran. Not an Error: nothing is wrong with the
/// input.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "cancelled"; }
};

}  // namespace heed
