// Flags from the rows of a table of options (search/rules/option_row.h).
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "cli/options/checked_options.h"
#include "cli/options/command_line.h"
#include "search/rules/option_row.h"

namespace heed::cli {

/// Of options of this group in the help of a command.
const char* title_of(search::OptionGroup group);

/// "--beam N"
std::string flag_with_value(const search::OptionRow& row);

/// The help of an option, with what holds if it is not given.
std::string help_of(const search::OptionRow& row);

void add_row(Command& app, const search::OptionRow& row, bool& value);
void add_row(Command& app, const search::OptionRow& row, std::string& value);
/// May be repeated.
void add_row(Command& app, const search::OptionRow& row, std::vector<std::string>& values);
void add_row(Command& app, const search::OptionRow& row, std::optional<double>& value,
             const search::ValueRange<double>& range);
/// Of integers: int or std::optional. The help of an int shows its value as the default.
template <typename Value, typename Number>
void add_row(Command& app, const search::OptionRow& row, Value& value,
             const search::ValueRange<Number>& range) {
  const std::string help = std::is_same_v<Value, Number> ? std::string(row.help) : help_of(row);
  add_integer(app, flag_with_value(row), value, help,
              {static_cast<int64_t>(range.least), static_cast<uint64_t>(range.most)});
}

}  // namespace heed::cli
