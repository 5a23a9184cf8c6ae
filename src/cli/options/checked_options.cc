#include "cli/options/checked_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/text/ascii.h"
#include "base/text/named_values.h"
#include "base/text/printable.h"
#include "search/rules/option_row.h"

namespace heed::cli {
namespace {

/// Whether all of `text` is a number in the range of the type.
template <typename T>
bool read(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool holds(const IntegerRange& range, std::string_view text) {
  if (int64_t number = 0; text.starts_with('-')) return read(text, number) && number >= range.least;
  uint64_t number = 0;
  return read(text, number) && number <= range.most &&
         (range.least <= 0 || number >= static_cast<uint64_t>(range.least));
}

bool holds(const NumberRange& range, std::string_view text) {
  double number = 0;
  return read(text, number) && range.holds(number);
}

std::string describe(const IntegerRange& range) {
  return fmt::format("an integer from {} to {}", range.least, range.most);
}

using search::describe;  // of NumberRange

template <typename Value>
constexpr bool kHasDefault = true;
template <typename Value>
constexpr bool kHasDefault<std::optional<Value>> = false;

/// command_line.cc puts the option's name before "takes". Leading zeros are removed, since CLI11 would read
/// the number as octal.
template <typename Value, typename Range>
Option* add(Command& app, const std::string& name, Value& value, const std::string& description,
            const Range& range) {
  const bool named = name.find(' ') != std::string::npos;
  Option* option = app.add_option(named ? name : name + " N", value, description);
  if (kHasDefault<Value>) option->show_default();
  return option->check([range](std::string& text) -> std::string {
    if (!holds(range, text)) return fmt::format("takes {}, not '{}'", describe(range), shown(text, 40));
    while (text.size() > 1 && text[0] == '0' && is_ascii_digit(text[1])) text.erase(0, 1);
    return {};
  });
}

}  // namespace

template <typename Value>
Option* add_integer(Command& app, const std::string& name, Value& value, const std::string& description,
                    IntegerRange range) {
  return add(app, name, value, description, range);
}
template <typename Value>
Option* add_number(Command& app, const std::string& name, Value& value, const std::string& description,
                   NumberRange range) {
  return add(app, name, value, description, range);
}

#define HEED_INSTANTIATE(add, Value, Range)                                              \
  template Option* add(Command&, const std::string&, Value&, const std::string&, Range); \
  template Option* add(Command&, const std::string&, std::optional<Value>&, const std::string&, Range);
HEED_INSTANTIATE(add_integer, int, IntegerRange)
HEED_INSTANTIATE(add_integer, int64_t, IntegerRange)
HEED_INSTANTIATE(add_integer, uint64_t, IntegerRange)
HEED_INSTANTIATE(add_number, double, NumberRange)
#undef HEED_INSTANTIATE

Option* add_choice(Command& app, const std::string& name, std::string& value, const std::string& description,
                   const std::vector<std::string>& choices) {
  return app.add_option(name, value, description)->check([choices](std::string& text) -> std::string {
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
    return fmt::format("takes {}, not '{}'", alternatives(choices), shown(text, 40));
  });
}

Option* add_columns(Command& app, std::optional<int>& columns, int least) {
  return add_integer(app, "--columns", columns, "Terminal width [default: $COLUMNS, or the terminal's]",
                     {least, 10000});
}

}  // namespace heed::cli
