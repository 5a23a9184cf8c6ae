#include "base/stop.h"

#include <utility>

namespace heed {
namespace {

thread_local Stop current_stop;

}  // namespace

StopScope::StopScope(const Stop& stop) : outer_(std::exchange(current_stop, stop)) {}

StopScope::~StopScope() {
  current_stop = outer_;
}

Stop StopScope::current() {
  return current_stop;
}

void StopScope::check() {
  current_stop.check();
}

}  // namespace heed
