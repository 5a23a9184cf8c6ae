#include "cli/options/option_flags.h"

#include "base/check.h"
#include "cli/options/command.h"

namespace heed::cli {

using search::flag_of;
using search::OptionRow;

const char* title_of(search::OptionGroup group) {
  switch (group) {
    case search::OptionGroup::kSearch:
      return kSearchOptions;
    case search::OptionGroup::kOutput:
      return kOutputOptions;
    case search::OptionGroup::kText:
      return kInputOptions;
    case search::OptionGroup::kConstraints:
      return "Constraints";
    case search::OptionGroup::kSampling:
      return kSamplingOptions;
    case search::OptionGroup::kHeads:
      return "Attention heads";
  }
  HEED_CHECK(false);
}

std::string flag_with_value(const OptionRow& row) {
  return fmt::format("{} {}", flag_of(row), row.value);
}

std::string help_of(const OptionRow& row) {
  std::string help(row.help);
  if (!row.otherwise.empty()) help += fmt::format(" [default: {}]", row.otherwise);
  return help;
}

void add_row(Command& app, const OptionRow& row, bool& value) {
  app.add_switch(flag_of(row), value, std::string(row.help));
}

void add_row(Command& app, const OptionRow& row, std::string& value) {
  app.add_option(flag_with_value(row), value, help_of(row));
}

void add_row(Command& app, const OptionRow& row, std::vector<std::string>& values) {
  app.add_option(flag_with_value(row), values, help_of(row) + "; may be repeated")->repeatable();
}

void add_row(Command& app, const OptionRow& row, std::optional<double>& value,
             const search::ValueRange<double>& range) {
  add_number(app, flag_with_value(row), value, help_of(row), range);
}

}  // namespace heed::cli
