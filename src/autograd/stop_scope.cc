#include "autograd/stop_scope.h"

#include <utility>

namespace heed {
namespace {

thread_local Stop current;

}  // namespace

StopScope::StopScope(const Stop& stop) : outer_(std::exchange(current, stop)) {}

StopScope::~StopScope() {
  current = outer_;
}

void StopScope::check() {
  current.check();
}

}  // namespace heed
