// Interrupts a forward or backward pass.
#pragma once

#include "base/stop.h"

namespace heed {

/// While it lives, tapes of this thread throw Stopped where `stop` is requested: with each parameter that the
/// forward pass puts on one, and with each operation that the backward pass goes through.
class StopScope {
 public:
  explicit StopScope(const Stop& stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// Throws Stopped where the stop of this thread's innermost scope, if there is one, is requested.
  static void check();

 private:
  Stop outer_;
};

}  // namespace heed
