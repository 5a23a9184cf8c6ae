// The tables of options in docs/ are those of the code.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/files/file.h"
#include "paths.h"
#include "tasks/generate_options.h"
#include "translate/translate_options.h"

namespace heed {
namespace {

using search::OptionRow;

template <typename Number>
std::string values_of(const std::optional<Number>&, const search::ValueRange<Number>& range) {
  const std::string text = search::describe(range);
  return text.substr(text.find(' ') + 1);  // without the article
}
template <typename Number>
std::string values_of(Number, const search::ValueRange<Number>& range) {
  return values_of(std::optional<Number>(), range);
}
std::string values_of(bool) {
  return "true, false";
}
std::string values_of(const std::string&) {
  return "text";
}
std::string values_of(const std::vector<std::string>&) {
  return "one text or several";
}
std::string values_of(const std::vector<std::pair<std::string, std::string>>&) {
  return "pairs of terms";
}

std::string flags_of(const OptionRow& row) {
  const std::string flag = search::flag_of(row);
  if (row.otherwise == "on") return "`" + flag + "`, `--no-" + flag.substr(2) + "`";
  return "`" + flag + (row.value.empty() ? "" : " " + std::string(row.value)) + "`";
}

std::string named(std::string_view option) {
  return "`" + search::flag_of({.name = option, .group = {}, .help = {}}) + "`";
}

std::string meaning_of(const OptionRow& row) {
  std::string text(row.help);
  for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
  if (!row.otherwise.empty()) text += "; default: " + std::string(row.otherwise);
  if (!row.needs.empty()) text += "; with " + named(row.needs);
  if (!row.excludes[0].empty()) text += "; not with " + named(row.excludes[0]);
  if (!row.excludes[1].empty()) text += " or " + named(row.excludes[1]);
  if (!row.for_documents) text += "; not for documents";
  if (!row.for_requests) text += "; not in requests";
  return text;
}

template <typename Options>
std::string table_of() {
  const Options usual;
  std::string table = "| flag | field, keyword | values | meaning |\n| --- | --- | --- | --- |\n";
  visit_options(usual, [&](const OptionRow& row, auto field, const auto&... range) {
    table += "| " + flags_of(row) + " | `" + std::string(row.name) + "` | " +
             values_of(usual.*field, range...) + " | " + meaning_of(row) + " |\n";
  });
  return table;
}

void expect_table(const std::string& file, const std::string& table) {
  const std::string text = read_file(source_folder() + "/docs/" + file);
  EXPECT_NE(text.find("\n\n" + table + "\n"), std::string::npos)
      << "the table of options in docs/" << file << " is not that of the code, which is:\n\n"
      << table;
}

TEST(OptionTables, OfTranslation) {
  expect_table("translating.md", table_of<TranslateOptions>());
}

TEST(OptionTables, OfGeneration) {
  expect_table("language-models.md", table_of<GenerateOptions>());
}

}  // namespace
}  // namespace heed
