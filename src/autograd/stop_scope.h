// Interrupts a forward or backward pass.
#pragma once

#include "base/stop.h"

namespace heed {

/// In this scope, the tapes of this thread throw Stopped once `stop` is requested: at each parameter of the
/// forward pass and each operation of the backward pass.
class StopScope {
 public:
  explicit StopScope(const Stop& stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

  /// Throws Stopped if the `stop` of this thread's innermost scope is requested.
  static void check();

 private:
  Stop outer_;
};

}  // namespace heed
