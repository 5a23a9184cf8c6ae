// Ctrl-C, SIGTERM and SIGHUP: every command ends soon in every phase, and leaves no half-written file behind.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tiny_model.h"

namespace heed {
namespace {

/// What a command may compute after a signal. Commands have 0.6 s to stop, on all processors.
constexpr double kMaxCpuSeconds = 5;

class InterruptTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(results_); }

  bool has_output() const { return !std::filesystem::is_empty(results_); }

  static void expect_end_after(int signal, Command& command) {
    const double before = command.cpu_seconds();
    command.send_signal(signal);
    const CommandResult result = command.wait();
    EXPECT_EQ(result.status, 130) << result.err;
    EXPECT_LT(result.cpu_seconds - before, kMaxCpuSeconds);
  }

  /// Starts a command that writes to results_, sends a signal after its first output, and expects it to
  /// end.
  void expect_end(std::vector<std::string> arguments, int signal) const {
    SCOPED_TRACE(arguments[0]);
    arguments.insert(arguments.end(), {"--model", tiny_model(), "--output", results_ + "/output"});
    Command command(arguments, {});
    ASSERT_TRUE(eventually([&] { return has_output(); }));
    ASSERT_TRUE(command.works_for(command.cpu_seconds() + 0.3));
    expect_end_after(signal, command);
    EXPECT_FALSE(has_output());
  }

  TestFolder folder_;
  std::string results_ = folder_.path("results");
};

TEST_F(InterruptTest, WithinOneLongLine) {
  std::string line;
  while (line.size() < 20'000'000) line += "Der alte Hund sieht den kleinen Baum. ";
  const std::string input = folder_.write("long", line + "\n");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) expect_end({"translate", "--input", input}, signal);
}

TEST_F(InterruptTest, OfScoresAndAlignments) {
  std::string pairs = to_tsv(tiny_pairs(1000, 5));
  for (int n = 0; n < 7; ++n) pairs += pairs;
  const std::string path = folder_.write("pairs.tsv", pairs);
  for (const char* name : {"score", "align"}) expect_end({name, "--pairs", path}, SIGTERM);
}

TEST_F(InterruptTest, OfAnEvaluationWithoutAModel) {
  std::string line;
  while (line.size() < 20'000'000) line += "The old dog sees a small tree. ";
  const std::string text = folder_.write("long", line + "\n");
  Command command({"evaluate", "--hypothesis", text, "--reference", text}, {});
  ASSERT_TRUE(command.works_for(0.5));
  expect_end_after(SIGTERM, command);
}

TEST_F(InterruptTest, ASecondSignalDoesNotWait) {
  const std::string input = folder_.write("long", std::string(20'000'000, 'a') + "\n");
  Command command({"translate", "--model", tiny_model(), "--input", input, "--output", results_ + "/output"},
                  {});
  ASSERT_TRUE(eventually([&] { return has_output(); }));
  command.send_signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(400));  // one that follows at once is the same
  expect_end_after(SIGTERM, command);
  EXPECT_FALSE(has_output());
}

}  // namespace
}  // namespace heed
