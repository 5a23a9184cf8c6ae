// For tests: the same on each instruction set.
#pragma once

#include <string>

#include "kernels/simd/isa.h"

namespace heed {

/// Runs `body`, which takes the name, once on each instruction set of this processor.
template <typename Body>
void on_every_isa(const Body& body) {
  const std::string before = isa_name();
  for (const std::string& isa : available_isas()) {
    force_isa(isa);
    body(isa);
  }
  force_isa(before);
}

}  // namespace heed
