#include "search/rules/option_row.h"

#include <algorithm>

#include "text/unicode/utf8.h"

namespace heed::search {

std::string flag_of(const OptionRow& row) {
  std::string flag = "--" + std::string(row.name);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

std::string shown_name(std::string_view option) {
  return marked_options("$" + std::string(option));
}

void require_value(const OptionRow& row, const std::string& text) {
  if (const auto position = find_invalid_utf8(text)) {
    throw OptionError(ErrorKind::kText, fmt::format("{} is not UTF-8, at byte {}: convert it first",
                                                    shown_name(row.name), *position));
  }
}

void require_value(const OptionRow& row, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) require_value(row, text);
}

void require_value(const OptionRow& row, const std::vector<std::pair<std::string, std::string>>& texts) {
  for (const auto& [first, second] : texts) {
    require_value(row, first);
    require_value(row, second);
  }
}

void require_compatible(const std::vector<OptionRow>& given) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(given, name, &OptionRow::name) != given.end();
  };
  for (const OptionRow& row : given) {
    if (!row.needs.empty() && !has(row.needs)) {
      fail_option("{} only works with {}: give both or neither", shown_name(row.name), shown_name(row.needs));
    }
    for (const std::string_view other : row.excludes) {
      if (other.empty() || !has(other)) continue;
      fail_option("{} and {} exclude each other: give one of them", shown_name(row.name), shown_name(other));
    }
  }
}

void require_for_documents(const std::vector<OptionRow>& given) {
  for (const OptionRow& row : given) {
    if (row.for_documents) continue;
    fail_option("{} is for lines of text and has no meaning for documents: leave it out",
                shown_name(row.name));
  }
}

}  // namespace heed::search
