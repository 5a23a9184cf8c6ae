// heed train under mpirun. Skipped for an MPI that is not installed or was not found when Heed was built.
#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "command.h"
#include "tiny_model.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// An MPI implementation, and how its mpirun is called.
struct Mpi {
  std::string name;
  std::string mpirun;
  std::vector<std::string> options;
};

const std::vector<Mpi>& implementations() {
  static const std::vector<Mpi> all{
      {"openmpi", "/usr/bin/mpirun.openmpi", {"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}},
      {"mpich", "/usr/bin/mpirun.mpich", {}}};
  return all;
}

/// Adds to the options of a sanitizer, which a variable holds.
[[maybe_unused]] void add_option(const char* variable, const char* option) {
  const char* const options = std::getenv(variable);
  ::setenv(variable, (std::string(options == nullptr ? "" : options) + ":" + option).c_str(), 1);
}

/// With the address sanitizer, does without the report of leaks at the end of a program: Open MPI's modules
/// leak, and have been unloaded by then, so no suppression can name them. With the thread sanitizer, UCX of
/// MPICH must not replace madvise(), which threads call after the sanitizer has seen their end; and the
/// sanitizer must not ask for the size of thread-local storage of libraries that are loaded while the program
/// runs, such as UCX: it takes some other number for it, and ends for want of memory.
void suit_sanitizers() {
#if defined(__SANITIZE_THREAD__)
  ::setenv("UCX_MEM_EVENTS", "n", 1);
  add_option("TSAN_OPTIONS", "intercept_tls_get_addr=0");
#endif
#if defined(__SANITIZE_ADDRESS__)
  add_option("ASAN_OPTIONS", "detect_leaks=0");
#endif
}

/// A running program with its output in a file.
class Program {
 public:
  Program(std::vector<std::string> words, const std::string& output) : output_(output) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    process_ = ::fork();
    if (process_ != 0) return;
    const int file = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::dup2(nothing, 0) < 0 || ::dup2(file, 1) < 0 || ::dup2(file, 2) < 0) ::_exit(126);
    suit_sanitizers();
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~Program() {
    if (process_ > 0) end();
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Waits for the end; kills the process if it does not come.
  CommandResult wait() {
    int status = 0;
    if (!eventually([&] { return ::waitpid(process_, &status, WNOHANG) != 0; })) {
      ADD_FAILURE() << "mpirun does not end";
      status = end();
    }
    process_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), {}, content_of(output_)};
  }

 private:
  int end() {
    int status = 0;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, &status, 0);
    return status;
  }

  std::string output_;
  pid_t process_ = -1;
};

/// build/lib/libheed_NAME.so
fs::path library(const std::string& name) {
  return fs::path(heed_command()).parent_path().parent_path() / "lib" / ("libheed_" + name + ".so");
}

class TrainMpiTest : public ::testing::TestWithParam<Mpi> {
 protected:
  void SetUp() override {
    if (!fs::exists(GetParam().mpirun)) GTEST_SKIP() << GetParam().mpirun << " is not installed";
    if (!fs::exists(library(GetParam().name))) GTEST_SKIP() << "Heed was built without " << GetParam().name;
    pairs_ = folder_.write("pairs.tsv", to_tsv(tiny_pairs(200, 1)));
    valid_ = folder_.write("valid.tsv", to_tsv(tiny_pairs(10, 2)));
  }

  std::vector<std::string> arguments(const std::string& output, int steps = 12) const {
    return {"train",
            "--preset",
            "tiny",
            "--pairs",
            pairs_,
            "--valid-pairs",
            valid_,
            "--set",
            "training.shards=8",
            "--set",
            "validation.every=5",
            "--threads",
            "1",
            "--max-steps",
            std::to_string(steps),
            "--output",
            path(output)};
  }
  /// The command line of mpirun with a program for so many processes.
  std::vector<std::string> mpirun(int processes, const std::vector<std::string>& command,
                                  const std::vector<std::string>& before = {}) const {
    std::vector<std::string> all{GetParam().mpirun};
    all.insert(all.end(), GetParam().options.begin(), GetParam().options.end());
    all.insert(all.end(), {"-n", std::to_string(processes)});
    all.insert(all.end(), before.begin(), before.end());
    all.push_back(heed_command());
    all.insert(all.end(), command.begin(), command.end());
    return all;
  }
  CommandResult run(const std::vector<std::string>& words) const {
    return Program(words, path("said")).wait();
  }
  std::string path(const std::string& name) const { return folder_.path(name); }
  /// A hash of the best weights, and of the last ones with the state of the optimizer.
  size_t weights(const std::string& output) const {
    std::string checkpoint = content_of(path(output + "/training/checkpoint.safetensors"));
    uint64_t header = 0;  // contains times
    std::memcpy(&header, checkpoint.data(), sizeof header);
    checkpoint.erase(0, sizeof header + header);
    return std::hash<std::string>()(content_of(path(output + "/model.safetensors")) + checkpoint);
  }
  /// Waits until the log of a training has so many lines.
  void wait_for_steps(const std::string& output, int steps) const {
    EXPECT_TRUE(eventually([&] {
      std::ifstream log(path(output + "/training/metrics.jsonl"));
      std::string line;
      int lines = 0;
      while (std::getline(log, line)) ++lines;
      return lines >= steps;
    })) << "the training does not get on";
  }

  TestFolder folder_;
  std::string pairs_, valid_;
};

/// The processes `heed train` with this output, found by their command lines.
std::vector<pid_t> processes_with(const std::string& output) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "cmdline");
    std::ostringstream content;  // stays empty if the process has just ended; an iterator would throw
    content << file.rdbuf();
    const std::string line = content.str();
    if (line.starts_with(heed_command()) && line.find(output) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST_P(TrainMpiTest, AnyNumberOfProcessesGivesTheSameBits) {
  ASSERT_EQ(heed_command(arguments("one")).status, 0);
  for (const int processes : {1, 2, 3, 4, 8}) {
    const std::string name = "m" + std::to_string(processes);
    const CommandResult result = run(mpirun(processes, arguments(name)));
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(weights(name), weights("one")) << name;
    if (processes > 1) {
      EXPECT_THAT(result.err, HasSubstr(std::to_string(processes) + " processes with 1 thread"));
    }
  }
}

// With a model large enough for gradients to travel section by section, during the backward pass.
TEST_P(TrainMpiTest, OneOfEightKilledInAStepAndResumedWithFiveGivesTheSameBits) {
  const int steps =
      40;  // many more than are waited for, so that the training does not end before it is killed
  const auto large = [&](const std::string& output) {
    std::vector<std::string> words = arguments(output, steps);
    words.insert(words.end(), {"--set", "model.feed_forward_width=2560"});
    return words;
  };
  ASSERT_EQ(heed_command(large("one")).status, 0);
  ASSERT_GT(fs::file_size(path("one/model.safetensors")), (size_t{1} << 20) * sizeof(float))
      << "several sections of gradients";
  Program training(mpirun(8, large("killed")), path("said"));
  wait_for_steps("killed", 7);
  const std::vector<pid_t> ranks = processes_with(path("killed"));
  ASSERT_EQ(ranks.size(), 8U);
  ::kill(ranks[5], SIGKILL);
  EXPECT_NE(training.wait().status, 0);
  EXPECT_TRUE(eventually([&] { return processes_with(path("killed")).empty(); }));
  EXPECT_NE(weights("killed"), weights("one")) << "the control: it was not done";
  const CommandResult rest = run(mpirun(5, large("killed")));
  ASSERT_EQ(rest.status, 0) << rest.err;
  EXPECT_THAT(rest.err, HasSubstr("resuming from step "));
  EXPECT_EQ(weights("killed"), weights("one"));
}

TEST_P(TrainMpiTest, AKilledProcessEndsAllAndTheRestGivesTheSameBits) {
  const int steps = 60;
  ASSERT_EQ(heed_command(arguments("one", steps)).status, 0);
  for (const bool first : {true, false}) {
    const std::string name = first ? "first" : "last";
    Program training(mpirun(2, arguments(name, steps)), path("said"));
    wait_for_steps(name, 7);
    const std::vector<pid_t> ranks = processes_with(path(name));
    ASSERT_EQ(ranks.size(), 2U);
    ::kill(first ? ranks.front() : ranks.back(), SIGKILL);
    const CommandResult result = training.wait();
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.err, "");
    EXPECT_TRUE(eventually([&] { return processes_with(path(name)).empty(); }));
    const CommandResult rest = run(mpirun(3, arguments(name, steps)));
    ASSERT_EQ(rest.status, 0) << rest.err;
    EXPECT_THAT(rest.err, HasSubstr("resuming from step"));
    EXPECT_EQ(weights(name), weights("one"));
  }
}

/// A stopped process stands for a machine that no longer answers: mpirun sees it alive.
TEST_P(TrainMpiTest, AProcessThatDoesNotAnswerEndsAll) {
  Program training(mpirun(2, arguments("silent", 100'000), {"env", "HEED_MPI_TIMEOUT=2"}), path("said"));
  wait_for_steps("silent", 3);
  const std::vector<pid_t> ranks = processes_with(path("silent"));
  ASSERT_EQ(ranks.size(), 2U);
  ::kill(ranks.back(), SIGSTOP);
  const CommandResult result = training.wait();
  ::kill(ranks.back(), SIGKILL);
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("nothing was heard of rank"));
}

TEST_P(TrainMpiTest, ASignalSavesAndEnds) {
  Program training(mpirun(2, arguments("stopped", 100'000)), path("said"));
  wait_for_steps("stopped", 7);
  ::kill(processes_with(path("stopped")).back(), SIGTERM);
  const CommandResult result = training.wait();
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("and saved"));
  EXPECT_THAT(result.err, HasSubstr("run the same command again to resume"));
}

/// Rank 0 cannot write the next checkpoint.
TEST_P(TrainMpiTest, AnErrorOfOneRankEndsAllWithItsMessage) {
  Program training(mpirun(3, arguments("moved", 100'000)), path("said"));
  wait_for_steps("moved", 3);
  fs::rename(path("moved/training"), path("moved/elsewhere"));
  const CommandResult result = training.wait();
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.err, HasSubstr("heed: rank 0 ("));
  EXPECT_THAT(result.err, HasSubstr(path("moved/training")));
  EXPECT_TRUE(eventually([&] { return processes_with(path("moved")).empty(); }));
}

TEST_P(TrainMpiTest, MessagesAppearOnce) {
  const std::vector<std::string> wrong{"train", "--pairs",  path("none"), "--max-steps",
                                       "1",     "--output", path("x")};
  const CommandResult result = run(mpirun(3, wrong));
  EXPECT_EQ(result.status, 1);
  const size_t first = result.err.find("heed: ");
  ASSERT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("heed: ", first + 1), std::string::npos) << result.err;
}

TEST_P(TrainMpiTest, AnInvalidTimeLimitIsRefused) {
  for (const char* const limit : {"soon", "-1", "8s"}) {
    const CommandResult result =
        run(mpirun(2, arguments("limited"), {"env", std::string("HEED_MPI_TIMEOUT=") + limit}));
    EXPECT_NE(result.status, 0) << limit;
    const std::string message = std::string("heed: HEED_MPI_TIMEOUT is '") + limit + "'; it must be a number";
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(fs::exists(path("limited")));
  }
}

TEST_P(TrainMpiTest, AnotherInstructionSetIsRefused) {
  if (other_isa().empty()) GTEST_SKIP() << "the processor has one instruction set";
  std::vector<std::string> program = mpirun(1, arguments("mixed"));
  const std::vector<std::string> other = mpirun(1, arguments("mixed"), {"env", "HEED_ISA=" + other_isa()});
  program.emplace_back(":");
  program.insert(program.end(), std::ranges::find(other, "-n"), other.end());
  const CommandResult result = run(program);
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the instruction set differs: rank 0"));
  EXPECT_FALSE(fs::exists(path("mixed")));
}

INSTANTIATE_TEST_SUITE_P(, TrainMpiTest, ::testing::ValuesIn(implementations()),
                         [](const auto& each) { return each.param.name; });

/// The environment of a process that mpirun has started, without mpirun.
TEST(TrainMpi, SeveralProcessesWithoutMpiDoNotTrainByThemselves) {
  TestFolder folder;
  const std::vector<std::string> arguments{"train",    "--pairs",       "x", "--max-steps", "1",
                                           "--output", folder.path("x")};
  const CommandResult slurm = heed_command(arguments, {.environment = {"SLURM_STEP_NUM_TASKS=4"}});
  expect_failure(slurm, 2, {"srun started 4 processes, but not for MPI", "HEED_MPI=off"});
  EXPECT_FALSE(fs::exists(folder.path("x")));
}

}  // namespace
}  // namespace heed
