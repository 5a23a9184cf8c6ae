#include "cli/options/search_flags.h"

#include <algorithm>
#include <type_traits>

#include "base/check.h"
#include "cli/options/option_flags.h"
#include "translate/translate_options.h"

namespace heed::cli {

void add_translate_options(Command& app, TranslateFlags& flags,
                           std::initializer_list<search::OptionGroup> groups) {
  translate::visit_translate_options([&](const search::OptionRow& row, auto field, const auto&... range) {
    if (std::ranges::find(groups, row.group) == groups.end()) return;
    app.group(title_of(row.group));
    if constexpr (std::is_same_v<decltype(field), decltype(&TranslateOptions::glossary)>) {
      add_row(app, row, flags.glossary);
    } else {
      add_row(app, row, flags.options.*field, range...);
    }
  });
}

std::vector<std::string> translate_flags(std::initializer_list<search::OptionGroup> groups) {
  std::vector<std::string> flags;
  translate::visit_translate_options([&](const search::OptionRow& row, auto, const auto&...) {
    if (std::ranges::find(groups, row.group) != groups.end()) flags.push_back(search::flag_of(row));
  });
  return flags;
}

TranslateOptions read_options(const TranslateFlags& flags) {
  TranslateOptions options = flags.options;
  if (flags.glossary == "-") {
    fail(ErrorKind::kUsage,
         "--glossary cannot be standard input ('-'), which is for the text: give the name of a file");
  }
  if (!flags.glossary.empty()) options.glossary = Glossary::load(flags.glossary).terms();
  return options;
}

}  // namespace heed::cli
