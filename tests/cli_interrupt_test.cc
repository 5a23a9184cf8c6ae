// Ctrl-C, SIGTERM and SIGHUP: every command ends soon in every phase, and leaves no half-written file behind.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "tiny_model.h"

namespace heed {
namespace {

/// Commands have 0.6 s to stop; the rest is for busy machines.
constexpr double kMaxSeconds = 2.5;

class InterruptTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(results_); }

  /// Starts a command that writes to results_, sends a signal after its first output, and expects it to
  /// end.
  void expect_end(std::vector<std::string> arguments, int signal, int milliseconds = 300) const {
    SCOPED_TRACE(arguments[0]);
    arguments.insert(arguments.end(), {"--model", tiny_model(), "--output", results_ + "/output"});
    Command command(arguments, {});
    for (int wait = 0; wait < 2000 && std::filesystem::is_empty(results_); ++wait) ::usleep(5000);
    ::usleep(static_cast<useconds_t>(milliseconds) * 1000);
    const auto begin = std::chrono::steady_clock::now();
    command.send_signal(signal);
    EXPECT_EQ(command.wait(30).status, 130);
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), kMaxSeconds);
    EXPECT_TRUE(std::filesystem::is_empty(results_));
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
  ::usleep(500'000);
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.wait(kMaxSeconds).status, 130);
}

TEST_F(InterruptTest, ASecondSignalDoesNotWait) {
  const std::string input = folder_.write("long", std::string(20'000'000, 'a') + "\n");
  Command command({"translate", "--model", tiny_model(), "--input", input, "--output", results_ + "/output"},
                  {});
  for (int wait = 0; wait < 2000 && std::filesystem::is_empty(results_); ++wait) ::usleep(5000);
  command.send_signal(SIGINT);
  command.send_signal(SIGTERM);
  EXPECT_EQ(command.wait(kMaxSeconds).status, 130);
  EXPECT_TRUE(std::filesystem::is_empty(results_));
}

}  // namespace
}  // namespace heed
