#include "base/log.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heed {
namespace {

class LogTest : public ::testing::Test {
 protected:
  void TearDown() override { set_log_handler({}); }
};

TEST_F(LogTest, TheListenerGetsLevelAndText) {
  std::vector<std::pair<LogLevel, std::string>> heard;
  set_log_handler([&](LogLevel level, const std::string& text) { heard.emplace_back(level, text); });
  log_message(LogLevel::kInfo, "step 3 of 10");
  log_warning("learning rate {}", 0.5);
  log_error("disk {} is full", 2);
  const std::vector<std::pair<LogLevel, std::string>> expected{{LogLevel::kInfo, "step 3 of 10"},
                                                               {LogLevel::kWarning, "learning rate 0.5"},
                                                               {LogLevel::kError, "disk 2 is full"}};
  EXPECT_EQ(heard, expected);
}

TEST_F(LogTest, WithoutAListenerNothingIsPrinted) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  log_warning("nobody hears this");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogTest, OneMessageAtATimeFromAnyThread) {
  int heard = 0;  // not atomic: the listener is never called twice at once
  set_log_handler([&](LogLevel, const std::string&) { ++heard; });
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([] {
      for (int message = 0; message < 500; ++message) log_warning("{}", message);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(heard, 2000);
}

}  // namespace
}  // namespace heed
