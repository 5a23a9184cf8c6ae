#include "autograd/leaf_scope.h"

#include <utility>

namespace heed {
namespace {

thread_local LeafObserver* current = nullptr;

}  // namespace

LeafScope::LeafScope(LeafObserver* observer) : outer_(std::exchange(current, observer)) {}

LeafScope::~LeafScope() {
  current = outer_;
}

LeafObserver* LeafScope::observer() {
  return current;
}

}  // namespace heed
