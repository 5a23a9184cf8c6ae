#include "cli/options/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/text/nearest_word.h"
#include "base/text/printable.h"
#include "cli/jobs/resumable/line_output.h"
#include "cli/options/command.h"
#include "cli/options/help_text.h"

namespace heed::cli {
namespace {

/// The chosen subcommand, or the command itself.
const CLI::App& chosen(const CLI::App& app) {
  const auto subcommands = app.get_subcommands();
  return subcommands.empty() ? app : *subcommands[0];
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// See Command::flag_of().
std::string flag_of_field(const CLI::App& command, const std::string& field) {
  static const std::map<std::string, std::vector<std::string>> other_names{{"languages", {"pair"}},
                                                                           {"nbest", {"nbest", "samples"}}};
  std::string flag = field;
  std::replace(flag.begin(), flag.end(), '_', '-');
  const auto found = other_names.find(field);
  for (const std::string& name : found == other_names.end() ? std::vector{flag} : found->second) {
    if (command.get_option_no_throw("--" + name) != nullptr) return "--" + name;
  }
  return field;
}

std::vector<std::string> subcommand_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(each->get_name());
  }
  return names;
}

/// The error message for wrong arguments, with a suggestion for unknown names.
std::string describe(const CLI::App& app, const CLI::Error& error) {
  const CLI::App& command = chosen(app);
  const std::vector<std::string> unknown = command.remaining(true);
  const std::string prefix = fmt::format("heed{}", &command == &app ? "" : " " + command.get_name());
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && &command == &app && unknown.empty()) {
    return fmt::format("heed: give a subcommand: {}\nSee heed --help\n",
                       fmt::join(subcommand_names(app), ", "));
  }
  std::string message = fmt::format("{}: {}", prefix, error.what());
  // "--beam: 1 required N missing"
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr && message.ends_with("missing")) {
    message = message.substr(0, message.find(": ", prefix.size() + 2)) + " needs a value";
  }
  // CLI11 puts "--beam: " before the message of a check, here "takes an integer ..."
  if (const size_t colon = message.find(": takes "); colon != std::string::npos) message.erase(colon, 1);
  if (!unknown.empty()) {
    const std::string word = unknown[0].substr(0, unknown[0].find('='));
    const bool option = word.starts_with("-");
    if (!option && &command == &app) {
      message =
          fmt::format("heed: unknown subcommand '{}'{}", word, did_you_mean(word, subcommand_names(app)));
    } else {
      message = fmt::format("{}: unknown argument '{}'{}", prefix, word,
                            option ? did_you_mean(word, option_names(command)) : "");
    }
  }
  return fmt::format("{}\nSee {} --help\n", message, prefix);
}

/// Prints the help or the version.
int print(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream text, ignored;
  app.exit(error, text, ignored);
  LineOutput output("-");
  output.write(text.str());
  output.commit();
  return kExitDone;
}

/// "heed help" and "heed help NAME" are "heed --help" and "heed NAME --help".
std::vector<const char*> with_help_as_option(const CLI::App& app, int argc, const char* const* argv) {
  std::vector<const char*> arguments(argv, argv + argc);
  if (argc < 2 || std::string_view(argv[1]) != "help") return arguments;
  if (argc > 3) {
    fail(ErrorKind::kUsage, "heed help takes one subcommand; remove '{}'", shown(argv[3]));
  }
  arguments.erase(arguments.begin() + 1);
  arguments.push_back("--help");
  if (argc == 2) return arguments;
  const std::vector<std::string> names = subcommand_names(app);
  const std::string name = argv[2];
  if (name != "help" && name != "--help" && std::find(names.begin(), names.end(), name) == names.end()) {
    fail(ErrorKind::kUsage, "unknown subcommand '{}'{}", shown(name), did_you_mean(name, names));
  }
  if (name == "help") arguments.erase(arguments.begin() + 1);
  return arguments;
}

/// Spellings of earlier versions: an option with a value that is now a switch, or, where `value` is empty,
/// one with another name.
struct OldSpelling {
  std::string_view option, value;
  const char* now;
};
constexpr std::array kOldSpellings{
    OldSpelling{"--shortlist", "on", "--shortlist"}, OldSpelling{"--shortlist", "off", "--no-shortlist"},
    OldSpelling{"--normalize", "on", "--normalize"}, OldSpelling{"--normalize", "off", "--no-normalize"},
    OldSpelling{"--most-pairs", "", "--max-pairs"}};

std::vector<const char*> without_old_spellings(const std::vector<const char*>& arguments) {
  std::vector<const char*> now;
  for (size_t n = 0; n < arguments.size(); ++n) {
    const std::string_view argument = arguments[n];
    if (argument == "--") {  // texts follow
      now.insert(now.end(), arguments.begin() + static_cast<std::ptrdiff_t>(n), arguments.end());
      break;
    }
    const auto old = std::ranges::find_if(kOldSpellings, [&](const OldSpelling& spelling) {
      if (spelling.value.empty()) return argument.substr(0, argument.find('=')) == spelling.option;
      return n + 1 < arguments.size() && argument == spelling.option && arguments[n + 1] == spelling.value;
    });
    now.push_back(old == kOldSpellings.end() ? arguments[n] : old->now);
    if (old == kOldSpellings.end()) continue;
    if (!old->value.empty()) ++n;  // the value
    if (argument.size() > old->option.size())
      now.push_back(arguments[n] + old->option.size() + 1);  // --X=VALUE
  }
  return now;
}

/// Whether an option of a subcommand, not a switch, has this name: "--no-repeat-ngram".
bool takes_value(const CLI::App& app, const std::string& name) {
  const auto all = [](const CLI::App*) { return true; };
  return std::ranges::any_of(app.get_subcommands(all), [&](const CLI::App* command) {
    const CLI::Option* option = command->get_option_no_throw(name);
    return option != nullptr && option->get_items_expected_max() > 0;
  });
}

/// Refuses what CLI11 would misread: it takes the argument after "--X=" for the value of X, and the value of
/// "--no-X=VALUE" for a number.
void refuse_misread(const CLI::App& app, const std::vector<const char*>& arguments) {
  for (const std::string_view argument : arguments) {
    if (argument == "--") return;  // texts follow
    const size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string_view::npos) continue;
    const std::string name = shown(argument.substr(0, equals));
    if (argument.starts_with("--no-") && !takes_value(app, name))
      fail(ErrorKind::kUsage, "{} takes no value", name);
    if (equals + 1 == argument.size()) fail(ErrorKind::kUsage, "{} needs a value", name);
  }
}

}  // namespace

Option* Option::show_default() {
  option_->capture_default_str();
  return this;
}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::take_all() {
  option_->take_all();
  return this;
}

Option* Option::repeatable() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
  return this;
}

Option* Option::check(std::function<std::string(std::string& text)> check) {
  option_->transform(CLI::Validator(std::move(check), ""));
  return this;
}

Option* Option::refuse_empty() {
  return check([](const std::string& text) { return text.empty() ? "takes a value that is not empty" : ""; });
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Command* Command::add_subcommand(const std::string& name, const std::string& help) {
  CLI::App* subcommand = app_->add_subcommand(name, help);
  if (!group_.empty()) subcommand->group(group_);
  subcommand->option_defaults()->group(kCommonOptions);
  return &subcommands_.emplace_back(subcommand);
}

void Command::group(const std::string& title) {
  group_ = title;
  app_->option_defaults()->group(title);
}

Option* Command::keep(CLI::Option* option) {
  return &options_.emplace_back(option);
}

template <typename Value>
Option* Command::add_option(const std::string& name, Value& variable, const std::string& help) {
  const size_t space = name.find(' ');
  CLI::Option* added = app_->add_option(name.substr(0, space), variable, help);
  Option* option = keep(added);
  if (space == std::string::npos) return option;
  const std::string value_name = name.substr(space + 1);
  added->type_name(value_name);
  // An empty name of a file or language is a variable of a script that was not set, not a wish for the
  // default.
  if (!std::is_arithmetic_v<Value> && value_name != "TEXT") option->refuse_empty();
  return option;
}
template Option* Command::add_option(const std::string&, int&, const std::string&);
template Option* Command::add_option(const std::string&, int64_t&, const std::string&);
template Option* Command::add_option(const std::string&, uint64_t&, const std::string&);
template Option* Command::add_option(const std::string&, double&, const std::string&);
template Option* Command::add_option(const std::string&, std::string&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<int>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<int64_t>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<uint64_t>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* Command::add_option(const std::string&, std::optional<std::string>&, const std::string&);
template Option* Command::add_option(const std::string&, std::vector<std::string>&, const std::string&);

Option* Command::add_switch(const std::string& name, bool& variable, const std::string& help) {
  return add_switch(
      name, help, [&variable](bool on) { variable = on; }, variable ? "true" : "false");
}

Option* Command::add_switch(const std::string& name, std::optional<bool>& variable, const std::string& help) {
  return add_switch(
      name, help, [&variable](bool on) { variable = on; }, "");
}

Option* Command::add_switch(const std::string& name, const std::string& help, std::function<void(bool)> set,
                            const std::string& usual) {
  // CLI11 reads a name with "!" as one for false, and a value after "=" as "true", "off" and the like.
  const std::string both = fmt::format("{},!--no-{}", name, name.substr(2));
  const auto read = [set = std::move(set)](const std::string& value) -> std::string {
    const bool other_number =
        value.find_first_of("0123456789") != std::string::npos && value != "0" && value != "1";
    bool on = false;
    if (other_number || !CLI::detail::lexical_cast(value, on)) {
      return fmt::format("takes on or off, not '{}'", shown(value, 40));
    }
    set(on);
    return {};
  };
  return keep(app_->add_flag(both, help)->default_str(usual))->check(read);
}

void Command::exclude(const std::string& option, const std::vector<std::string>& others) {
  for (const std::string& other : others) app_->get_option(option)->excludes(app_->get_option(other));
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

std::string Command::name() const {
  return app_->get_name();
}

std::string Command::flag_of(const std::string& field) const {
  return flag_of_field(*app_, field);
}

std::vector<GivenOption> Command::given_options() const {
  std::vector<GivenOption> given;
  for (const CLI::Option* option : app_->get_options()) {
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    const std::string value_name = option->get_type_name();
    given.push_back({.name = "--" + option->get_lnames()[0],
                     .values = option->reduced_results(),
                     .is_file = value_name == "F" || value_name.starts_with("F.")});
  }
  std::ranges::sort(given, {}, &GivenOption::name);
  return given;
}

void Command::callback(std::function<void()> chosen) {
  app_->callback(std::move(chosen));
}

CommandLine::CommandLine(const std::string& name, const std::string& help, const std::string& version)
    : Command(nullptr), owned_(std::make_unique<CLI::App>(help, name)) {
  app_ = owned_.get();
  app_->require_subcommand(1);
  // These hold for all subcommands.
  app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app_->option_defaults()->group(kCommonOptions);
  app_->set_version_flag("--version", version, "Print the version and exit")->group(kGeneralOptions);
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->formatter_fn([](const CLI::App* command, const std::string& called, CLI::AppFormatMode) {
    return help_text(*command, called);
  });
}

CommandLine::~CommandLine() = default;

std::optional<int> CommandLine::parse(int argc, const char* const* argv) {
  try {
    const std::vector<const char*> arguments = without_old_spellings(with_help_as_option(*app_, argc, argv));
    refuse_misread(*app_, arguments);
    app_->parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return print(*app_, error);
    std::fputs(describe(*app_, error).c_str(), stderr);
    return kExitUsage;
  }
  return {};
}

std::string CommandLine::chosen_flag_of(const std::string& field) const {
  return flag_of_field(chosen(*app_), field);
}

bool CommandLine::chosen_switch(const std::string& name) const {
  const CLI::Option* option = chosen(*app_).get_option_no_throw(name);
  return option != nullptr && option->count() > 0 && option->as<bool>();
}

}  // namespace heed::cli
