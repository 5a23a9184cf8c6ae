// Tables of options: translate/translate_options.h and tasks/generate_options.h. Command line, requests,
// Python, checks of values and the tables in docs/ follow from them.
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text/option_error.h"
#include "models/search_ranges.h"

namespace heed::search {

using models::ValueRange;

/// The groups of an options struct that commands and routes have.
enum class OptionGroup { kSearch, kOutput, kText, kConstraints, kSampling, kHeads };

/// What there is to say about an option.
struct OptionRow {
  std::string_view name;  ///< of field and keyword; the flag has dashes instead of underscores
  OptionGroup group;
  std::string_view value = {};  ///< placeholder of its value in help texts; empty for switches
  std::string_view help;
  std::string_view otherwise = {};                ///< its value if it is not given
  std::string_view needs = {};                    ///< the option without which it has no meaning
  std::array<std::string_view, 2> excludes = {};  ///< the options with which it cannot be given
  bool for_documents = true;                      ///< false: has a meaning for lines only
  bool for_requests = true;                       ///< false: the server decides it
  bool of_last_model = false;  ///< of several models in sequence, the last one alone has it
};

/// The flag of the command: "--no-repeat-ngram".
std::string flag_of(const OptionRow& row);

/// The name in a message of fail_option(), which each interface shows as its own.
std::string shown_name(std::string_view option);

/// "an integer from 1 to 1024", "a number above 0 and up to 1"
template <typename Number>
std::string describe(const ValueRange<Number>& range) {
  const bool lower = range.least > ValueRange<Number>().least, upper = range.most < ValueRange<Number>().most;
  std::string text = std::is_integral_v<Number> ? "an integer" : "a number";
  if (lower) text += fmt::format(" {} {}", range.above_least ? "above" : "from", range.least);
  if (upper) text += fmt::format(" {} {}", range.above_least ? "and up to" : "to", range.most);
  if (lower && !upper && !range.above_least) text += " up";
  return text;
}

// Checks of a value. They throw an OptionError for a number out of range, and kText for invalid UTF-8.

template <typename Number>
void require_value(std::string_view option, Number value, const ValueRange<Number>& range) {
  if (!range.holds(value)) fail_option("{} must be {}, not {}", shown_name(option), describe(range), value);
}
template <typename Number>
void require_value(const OptionRow& row, Number value, const ValueRange<Number>& range) {
  require_value(row.name, value, range);
}
template <typename Number>
void require_value(const OptionRow& row, const std::optional<Number>& value,
                   const ValueRange<Number>& range) {
  if (value) require_value(row.name, *value, range);
}
inline void require_value(const OptionRow&, bool) {}
void require_value(const OptionRow& row, const std::string& text);
void require_value(const OptionRow& row, const std::vector<std::string>& texts);
void require_value(const OptionRow& row, const std::vector<std::pair<std::string, std::string>>& texts);

/// The rows of the options that are not at their defaults. `visit_options(options, visit)` is the table of
/// the struct, declared in its namespace.
template <typename Options>
std::vector<OptionRow> given_options(const Options& options) {
  const Options usual;
  std::vector<OptionRow> given;
  visit_options(options, [&](const OptionRow& row, auto field, const auto&...) {
    if (options.*field != usual.*field) given.push_back(row);
  });
  return given;
}

/// Throws an OptionError if one of these lacks the option that it needs, or excludes another one.
void require_compatible(const std::vector<OptionRow>& given);

/// Throws an OptionError for options that have a meaning for lines only.
void require_for_documents(const std::vector<OptionRow>& given);

/// Checks every value, and which options are given together.
template <typename Options>
void require_valid(const Options& options) {
  visit_options(options, [&](const OptionRow& row, auto field, const auto&... range) {
    require_value(row, options.*field, range...);
  });
  require_compatible(given_options(options));
}

}  // namespace heed::search
