// The grammar of the command line: subcommands, their options and flags, and which values these take.
//
// CLI11 does the parsing. Its header costs each file that includes it some seconds of compiling, so
// command_line.cc is the only one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace heed::cli {

/// An option, a flag, or a word that stands by itself. Every function returns the option it was called on.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  /// What the help calls the value: "N", "FILE".
  Option* type_name(const std::string& name);
  /// The help shows the value that the variable has now.
  Option* show_default();
  Option* required();
  /// May be given several times, each time with as many values as follow.
  Option* take_all();
  /// May be given several times, each time with one value.
  Option* repeatable();

  /// Checks the text of a value before it is converted: returns what is wrong with it, "" where nothing is.
  /// May write the text in another way.
  Option* check(std::function<std::string(std::string& text)> check);

  /// Wrong usage without the other one, or together with it.
  Option* needs(Option* other);
  Option* excludes(Option* other);

 private:
  CLI::Option* option_;  // lives as long as its command
};

/// A subcommand, or the command itself. Variables are written to while the command line is parsed.
class Command {
 public:
  explicit Command(CLI::App* app) : app_(app) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  Command* add_subcommand(const std::string& name, const std::string& help);
  /// "--name" for an option, "NAME" for a word that stands by itself. `Value` is int, int64_t, uint64_t,
  /// double or std::string, std::optional of one of these (empty where the option is not given), or a vector
  /// of strings.
  template <typename Value>
  Option* add_option(const std::string& name, Value& variable, const std::string& help);
  Option* add_flag(const std::string& name, bool& variable, const std::string& help);
  /// What stands below the options in the help.
  void footer(const std::string& text);
  /// Called where this subcommand is chosen, when all its options have their values.
  void callback(std::function<void()> chosen);

 protected:
  CLI::App* app_;  // lives as long as the command line

 private:
  std::deque<Option> options_;  // a deque, since pointers to its elements are handed out
  std::deque<Command> subcommands_;
};

/// The whole of it. One subcommand is needed; of an option that is given again, the last value counts.
class CommandLine : public Command {
 public:
  CommandLine(const std::string& name, const std::string& help, const std::string& version);
  ~CommandLine();

  /// Nothing where a subcommand was chosen. Otherwise the exit status, once the help or the version is
  /// written to standard output, or what is wrong to standard error. Throws kUsage, or kFile where writing
  /// fails.
  std::optional<int> parse(int argc, const char* const* argv);
  /// Whether the subcommand that was chosen has this option, such as "--beam".
  bool chosen_has(const std::string& option) const;

 private:
  std::unique_ptr<CLI::App> owned_;
};

}  // namespace heed::cli
