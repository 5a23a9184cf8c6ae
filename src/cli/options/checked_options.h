// Options that take a number in a range, or one of a list of words, with one format of error messages.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/command_line.h"

namespace heed::cli {

struct IntegerRange {
  int64_t least = 0;
  uint64_t most = std::numeric_limits<int32_t>::max();
};

/// For seeds: any unsigned 64-bit integer.
constexpr IntegerRange kAnySeed{0, std::numeric_limits<uint64_t>::max()};

/// Adds an option that takes a decimal integer; the help shows its default. Other values are an error that
/// names the option and the range.
Option* add_integer(Command& app, const std::string& name, int& value, const std::string& description,
                    IntegerRange range);
Option* add_integer(Command& app, const std::string& name, int64_t& value, const std::string& description,
                    IntegerRange range);
Option* add_integer(Command& app, const std::string& name, uint64_t& value, const std::string& description,
                    IntegerRange range);
/// Without a default; the description should say what applies when the option is not given.
Option* add_integer(Command& app, const std::string& name, std::optional<int>& value,
                    const std::string& description, IntegerRange range);
Option* add_integer(Command& app, const std::string& name, std::optional<int64_t>& value,
                    const std::string& description, IntegerRange range);
Option* add_integer(Command& app, const std::string& name, std::optional<uint64_t>& value,
                    const std::string& description, IntegerRange range);

struct NumberRange {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  bool above_least = false;  ///< the lower bound is exclusive
};

/// The same for numbers such as 0.5 or 1e-4; never NaN or infinite.
Option* add_number(Command& app, const std::string& name, double& value, const std::string& description,
                   NumberRange range);
Option* add_number(Command& app, const std::string& name, std::optional<double>& value,
                   const std::string& description, NumberRange range);

/// Adds an option that takes one of `choices`.
Option* add_choice(Command& app, const std::string& name, std::string& value, const std::string& description,
                   const std::vector<std::string>& choices);

}  // namespace heed::cli
