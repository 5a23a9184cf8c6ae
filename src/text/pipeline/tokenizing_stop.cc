#include "text/pipeline/tokenizing_stop.h"

#include <utility>

namespace heed {
namespace {

thread_local Stop tokenizing_stop;

}  // namespace

TokenizingStop::TokenizingStop(const Stop& stop) : outer_(std::exchange(tokenizing_stop, stop)) {}

TokenizingStop::~TokenizingStop() {
  tokenizing_stop = outer_;
}

void TokenizingStop::check() {
  tokenizing_stop.check();
}

}  // namespace heed
