#include "cli/options/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "cli/options/command.h"
#include "text/unicode/whitespace.h"

namespace heed::cli {
namespace {

constexpr size_t kColumns = 100, kDescriptionColumn = 26;

using Predicate = std::function<bool(const CLI::Option&)>;

std::vector<const CLI::Option*> options_with(const CLI::App& app, const Predicate& holds) {
  return app.get_options([&](const CLI::Option* option) { return holds(*option); });
}

bool is_help(const CLI::App& app, const CLI::Option& option) {
  return app.get_help_ptr() == &option;
}

/// Words in lines of at most kColumns; all lines but the first are indented.
std::string wrapped(std::string_view text, size_t indent) {
  std::string result;
  size_t column = indent;
  for (const std::string_view word : split_whitespace(text)) {
    const bool first = column == indent;
    if (!first && column + 1 + word.size() > kColumns) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result;
}

std::string entry(const std::string& name, const std::string& description) {
  std::string line = "  " + name;
  line += line.size() < kDescriptionColumn ? std::string(kDescriptionColumn - line.size(), ' ')
                                           : '\n' + std::string(kDescriptionColumn, ' ');
  return line + wrapped(description, kDescriptionColumn) + '\n';
}

bool is_switch(const CLI::Option& option) {
  return option.get_expected_max() == 0;
}

/// "--json" for a switch that is off by default, "--[no-]color" for others; "--beam N"; "TEXT...".
std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true) + (option.get_expected_max() > 1 ? "..." : "");
  const std::string& name = option.get_lnames().at(0);
  if (!is_switch(option)) return "--" + name + " " + option.get_type_name();
  const bool both = option.get_lnames().size() > 1 && option.get_default_str() != "false";
  const std::string letter = option.get_snames().empty() ? "" : "-" + option.get_snames()[0] + ", ";
  return letter + (both ? "--[no-]" : "--") + name;
}

/// The default to name in the help; empty for none.
std::string default_of(const CLI::Option& option) {
  std::string usual = option.get_default_str();
  if (is_switch(option)) return usual == "true" ? "on" : "";
  return usual;
}

/// With the options that it needs and its default, where the description does not name them.
std::string description_of(const CLI::Option& option) {
  std::string description = option.get_description();
  const size_t end = std::min(description.find(" [default: "), description.size());
  std::string conditions;
  for (const CLI::Option* needed : option.get_needs()) {
    const std::string name = needed->get_name();
    if (description.find(name) == std::string::npos) conditions += fmt::format(" (with {})", name);
  }
  if (option.get_required()) conditions += " (required)";
  if (const std::string usual = default_of(option); end == description.size() && !usual.empty())
    conditions += fmt::format(" [default: {}]", usual);
  return description.insert(end, conditions);
}

std::string section(const std::string& title, const std::vector<const CLI::Option*>& options) {
  if (options.empty()) return "";
  std::string text = "\n" + title + ":\n";
  for (const CLI::Option* option : options) text += entry(name_of(*option), description_of(*option));
  return text;
}

/// The titles in the order of their first options, without --help; the general options come last.
std::vector<std::string> titles_of(const CLI::App& app) {
  std::vector<std::string> titles;
  for (const CLI::Option* option : options_with(app, [&](const auto& each) { return !is_help(app, each); })) {
    const std::string& title = option->get_group();
    if (option->nonpositional() && title != kGeneralOptions && std::ranges::count(titles, title) == 0)
      titles.push_back(title);
  }
  titles.emplace_back(kGeneralOptions);
  return titles;
}

std::string sections(const CLI::App& app) {
  std::string text = section("Arguments", options_with(app, [](const CLI::Option& option) {
                               return option.get_positional() && !option.nonpositional();
                             }));
  for (const std::string& title : titles_of(app)) {
    std::vector<const CLI::Option*> options = options_with(app, [&](const CLI::Option& option) {
      return option.nonpositional() && option.get_group() == title && !is_help(app, option);
    });
    if (title == kGeneralOptions && app.get_help_ptr() != nullptr) options.push_back(app.get_help_ptr());
    text += section(title, options);
  }
  return text;
}

std::string usage(const CLI::App& app, const std::string& name) {
  std::string text = "Usage: " + name;
  if (!app.get_subcommands({}).empty()) text += " SUBCOMMAND";
  text += " [OPTIONS]";
  for (const CLI::Option* option :
       options_with(app, [](const CLI::Option& each) { return each.get_positional(); })) {
    const std::string argument = name_of(*option);
    text += option->get_required() ? ' ' + argument : " [" + argument + ']';
  }
  return text + '\n';
}

/// The subcommands under the titles of their groups.
std::string subcommands(const CLI::App& app) {
  std::string text, title;
  for (const CLI::App* each : app.get_subcommands({})) {
    if (each->get_group() != title) text += fmt::format("\n{}:\n", title = each->get_group());
    text += entry(each->get_name(), each->get_description());
  }
  return text;
}

/// Examples, which are indented, stay as they are; the lines of a paragraph are joined and wrapped.
std::string below(const std::string& footer) {
  std::string text, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += '\n' + wrapped(paragraph, 0) + '\n';
    paragraph.clear();
  };
  for (std::string_view rest = footer; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const bool indented = line.starts_with(' ');
    if (indented || line.empty()) end_paragraph();
    if (indented) {
      text += std::string(line) + '\n';
    } else if (!line.empty()) {
      paragraph += std::string(line) + ' ';
    }
  }
  end_paragraph();
  return text;
}

}  // namespace

std::string help_text(const CLI::App& app, const std::string& name) {
  return wrapped(app.get_description(), 0) + "\n\n" + usage(app, name) + subcommands(app) + sections(app) +
         below(app.get_footer());
}

}  // namespace heed::cli
