// Runs the built command `heed` as a process, for command tests.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "eventually.h"
#include "kernels/simd/isa.h"
#include "paths.h"
#include "test_folder.h"

namespace heed {

struct CommandResult {
  int status = -1;  ///< the exit status; 128 + number for a process that a signal ended
  std::string out, err;
  double cpu_seconds = 0;  ///< of all threads; unlike the time that passes, it does not grow with the load
};

/// A running command with output to temporary files.
class Command {
 public:
  struct Settings {
    std::string input = {};   ///< a file for standard input; empty: nothing to read
    std::string output = {};  ///< where standard output goes, such as /dev/full; empty: kept
    std::vector<std::string> environment = {};  ///< "NAME=value" over those of the test
    bool without_input = false;                 ///< start with standard input closed
  };

  Command(std::vector<std::string> arguments, const Settings& settings) {
    const std::string input = settings.input.empty() ? "/dev/null" : settings.input;
    const std::string output = settings.output.empty() ? folder_.path("out") : settings.output;
    const std::string errors = folder_.path("err");
    std::istringstream emulator_words(emulator());
    std::vector<std::string> program(std::istream_iterator<std::string>(emulator_words), {});
    program.push_back(heed_command());
    arguments.insert(arguments.begin(), program.begin(), program.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    process_ = ::fork();
    if (process_ < 0) throw std::runtime_error("cannot fork");
    if (process_ > 0) return;
    for (const char* name : {"HEED_MODEL", "HEED_MODELS", "COLUMNS", "NO_COLOR"}) ::unsetenv(name);
    for (const std::string& each : settings.environment) ::putenv(const_cast<char*>(each.c_str()));
    redirect(STDIN_FILENO, input, O_RDONLY);
    redirect(STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC);
    if (settings.without_input) ::close(STDIN_FILENO);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ~Command() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      ::waitpid(process_, nullptr, 0);
    }
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  pid_t process() const { return process_; }
  void send_signal(int number) const { ::kill(process_, number); }
  /// The CPU time that the process has used.
  double cpu_seconds() const {
    clockid_t clock{};
    timespec time{};
    if (::clock_getcpuclockid(process_, &clock) != 0 || ::clock_gettime(clock, &time) != 0) return 0;
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }
  /// The bytes that the process has read from files, if the system counts them.
  std::optional<uint64_t> bytes_read() const {
    std::ifstream counts("/proc/" + std::to_string(process_) + "/io");
    std::string name;
    uint64_t bytes = 0;
    if (!(counts >> name >> bytes) || name != "rchar:") return std::nullopt;
    return bytes;
  }
  /// Waits until the process has worked for so long, or has ended.
  bool works_for(double seconds) const {
    return eventually([&] { return cpu_seconds() >= seconds || poll() == 0; });
  }
  std::string errors_so_far() const { return content_of(folder_.path("err")); }

  /// -1 while the process runs; then 0, and wait() gives its status.
  int poll() const {
    siginfo_t information{};
    ::waitid(P_PID, static_cast<id_t>(process_), &information, WEXITED | WNOHANG | WNOWAIT);
    return information.si_pid == 0 ? -1 : 0;
  }
  /// Waits for the end; kills the process if it does not come.
  CommandResult wait() {
    int status = 0;
    rusage usage{};
    if (!eventually([&] { return ::wait4(process_, &status, WNOHANG, &usage) != 0; })) {
      ADD_FAILURE() << "the command does not end";
      send_signal(SIGKILL);
      ::wait4(process_, &status, 0, &usage);
    }
    process_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(folder_.path("out")),
            content_of(folder_.path("err")), seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
  }

 private:
  static double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  }
  static void redirect(int descriptor, const std::string& path, int flags) {
    const int opened = ::open(path.c_str(), flags, 0600);
    if (opened < 0 || ::dup2(opened, descriptor) < 0) ::_exit(126);
  }

  TestFolder folder_;
  pid_t process_ = -1;
};

/// Runs the command to its end.
inline CommandResult heed_command(const std::vector<std::string>& arguments,
                                  const Command::Settings& settings = {}) {
  return Command(arguments, settings).wait();
}

/// Expects the command to fail with this status and a message that contains all these parts, and without
/// other output.
inline void expect_failure(const CommandResult& result, int status, const std::vector<std::string>& parts) {
  EXPECT_EQ(result.status, status) << result.err;
  EXPECT_EQ(result.out, "");
  for (const std::string& part : parts) {
    EXPECT_NE(result.err.find(part), std::string::npos)
        << "the message is: " << result.err << "it lacks: " << part;
  }
}

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// HEED_ISA of an instruction set that this process does not use; empty if the processor has only one.
inline std::string other_isa() {
  for (const std::string& isa : available_isas()) {
    if (isa != isa_name()) return isa;
  }
  return "";
}

}  // namespace heed
