// The command line: subcommands, options, flags, and checks of their values.
//
// A thin wrapper around CLI11, whose header takes seconds to compile. Only command_line.cc and help_text.cc
// include it.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

/// An option, a flag or a positional argument. Every function returns the option itself.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// Shows the current value of the variable as the default.
  Option* show_default();
  Option* required();
  /// May be repeated, each time with any number of values.
  Option* take_all();
  /// May be repeated, each time with one value.
  Option* repeatable();

  /// Validates the text of a value before it is converted; may normalize it. Returns an error message, or
  /// "".
  Option* check(std::function<std::string(std::string& text)> check);
  Option* refuse_empty();

  /// Usage errors: this option without `other` (needs), or together with it (excludes).
  Option* needs(Option* other);
  Option* excludes(Option* other);

 private:
  CLI::Option* option_;  // owned by the CLI::App
};

/// An option or flag that was given.
struct GivenOption {
  std::string name;                 ///< "--beam"
  std::vector<std::string> values;  ///< of an option that is not repeatable only the last; of a flag "true"
  bool is_file = false;             ///< whether the values name files
};

/// The command itself or a subcommand. Parsing writes to the variables of the options.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& help);
  /// "--name N" for an option, with the name of its value in the help; "NAME" for a positional argument.
  /// `Value` is int, int64_t, uint64_t, double or std::string, a std::optional of these (empty if the option
  /// is not given), or a vector of strings.
  template <typename Value>
  Option* add_option(const std::string& name, Value& variable, const std::string& help);
  /// Two flags, "--name" and "--no-name"; the last one counts. The help says what `variable` is without them.
  Option* add_switch(const std::string& name, bool& variable, const std::string& help);
  /// The same for a variable that is empty without them; the help says what that means.
  Option* add_switch(const std::string& name, std::optional<bool>& variable, const std::string& help);
  /// The title in the help of the options, or of the subcommands, that are added from now on.
  void group(const std::string& title);
  /// Usage errors: an option together with one of `others`. Positional arguments are named as in the help.
  void exclude(const std::string& option, const std::vector<std::string>& others);
  /// Text below the options in the help.
  void footer(const std::string& text);
  std::string name() const;
  /// The option for a field of a library options struct, such as "--max-length"; the field's name if there is
  /// none.
  std::string flag_of(const std::string& field) const;
  /// The options and flags that were given on the command line, without positional arguments, sorted by name.
  std::vector<GivenOption> given_options() const;
  /// Called after parsing if this subcommand was chosen.
  void callback(std::function<void()> chosen);

 protected:
  CLI::App* app_;  // owned by CommandLine

 private:
  Option* add_switch(const std::string& name, const std::string& help, std::function<void(bool)> set,
                     const std::string& usual);
  Option* keep(CLI::Option* option);

  std::string group_;          // of subcommands
  std::list<Option> options_;  // a list keeps pointers to its elements valid
  std::list<Command> subcommands_;
};

/// The whole command line. One subcommand is required; if an option is repeated, its last value counts.
/// Spellings of earlier versions stay accepted, see kOldSpellings in command_line.cc.
class CommandLine : public Command {
 public:
  CommandLine(const std::string& name, const std::string& help, const std::string& version);
  ~CommandLine();

  /// Empty if a subcommand was chosen. Otherwise writes help or version to standard output, or an error
  /// message to standard error, and returns the exit status. Throws kUsage, or kFile if writing fails.
  std::optional<int> parse(int argc, const char* const* argv);
  /// flag_of() of the chosen subcommand.
  std::string chosen_flag_of(const std::string& field) const;
  /// Whether the chosen subcommand has a switch "--name" that was given and is on.
  bool chosen_switch(const std::string& name) const;

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace heed::cli
