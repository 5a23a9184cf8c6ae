// The values of options that are numbers: what CLI11 alone would take too gladly.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace heed::cli {

/// Takes digits, with a minus sign where `least` is negative, for a number from `least` to `most`, and
/// refuses all else: CLI11 alone takes what is too large for the largest there is.
CLI::Validator whole_number(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());

/// Takes a finite number above 0, and refuses all else, "nan" among it.
CLI::Validator positive_number();

}  // namespace heed::cli
