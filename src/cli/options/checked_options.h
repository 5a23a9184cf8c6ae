// Options that take a number in a range, or one of a list of words, with one format of error messages.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cli/options/command_line.h"
#include "models/search_ranges.h"

namespace heed::cli {

struct IntegerRange {
  int64_t least = 0;
  uint64_t most = std::numeric_limits<int32_t>::max();
};

/// Adds an option that takes a decimal integer. `Value` is int, int64_t or uint64_t, whose default the help
/// shows, or a std::optional of these: the description says what applies when the option is not given. Other
/// values are an error that names the option and the range.
template <typename Value>
Option* add_integer(Command& app, const std::string& name, Value& value, const std::string& description,
                    IntegerRange range);

using NumberRange = models::ValueRange<double>;

/// The same for double and std::optional<double>, such as 0.5 or 1e-4; never NaN or infinite.
template <typename Value>
Option* add_number(Command& app, const std::string& name, Value& value, const std::string& description,
                   NumberRange range);

/// Adds an option that takes one of `choices`.
Option* add_choice(Command& app, const std::string& name, std::string& value, const std::string& description,
                   const std::vector<std::string>& choices);

/// Adds --columns, the width of tables, from `least` up.
Option* add_columns(Command& app, std::optional<int>& columns, int least);

}  // namespace heed::cli
