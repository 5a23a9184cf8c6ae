#include "serve/http/log_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/files/file.h"
#include "eventually.h"
#include "test_folder.h"

namespace heed::serve {
namespace {

std::string lost(size_t count) {
  return fmt::format("lost {}\n", count);
}

TEST(LogWriter, WritesEverythingBeforeItsEnd) {
  const TestFolder folder;
  std::string expected;
  {
    const int file = ::open(folder.path("log").c_str(), O_WRONLY | O_CREAT, 0600);
    LogWriter log({.file = file, .owned = true, .lost_line = lost, .patience_seconds = kPatience});
    const auto write = [&](int n) {
      log.write(fmt::format("line {}\n", n));
      expected += fmt::format("line {}\n", n);
    };
    for (int n = 0; n < 100; ++n) write(n);
    log.start();
    for (int n = 100; n < 1000; ++n) write(n);
    EXPECT_TRUE(log.flush());
    EXPECT_EQ(read_file(folder.path("log")), expected);
    for (int n = 1000; n < 2000; ++n) write(n);
  }
  EXPECT_EQ(read_file(folder.path("log")), expected);
}

TEST(LogWriter, CountsLinesThatNobodyReads) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  constexpr size_t kSize = 1 << 10, kLines = 3 * LogWriter::kMaxBytes / kSize;
  size_t written = 0, told = 0;
  {
    LogWriter log({.file = ends[1], .lost_line = lost, .patience_seconds = 0.01});
    log.start();
    std::string whole(kSize, 'x');
    whole.back() = '\n';
    for (size_t n = 0; n < kLines; ++n) log.write(whole);
    EXPECT_FALSE(log.flush());
    std::string text;
    while (written + told < kLines) {
      char bytes[4096];
      const ssize_t count = ::read(ends[0], bytes, sizeof bytes);
      ASSERT_GT(count, 0);
      text.append(bytes, static_cast<size_t>(count));
      for (size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
        const std::string line = text.substr(0, end);
        if (line.starts_with("lost")) {
          told += std::stoul(line.substr(5));
        } else {
          EXPECT_EQ(line.size(), kSize - 1);
          ++written;
        }
      }
    }
    EXPECT_TRUE(eventually([&] { return log.flush(); }));
  }
  EXPECT_EQ(written + told, kLines);
  EXPECT_GT(told, 0U);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(LogWriter, EndsThoughNobodyReads) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    LogWriter log({.file = ends[1], .lost_line = lost, .patience_seconds = 0.01});
    log.start();
    for (int n = 0; n < 100; ++n) log.write(std::string(1 << 10, 'x'));
  }
  ::close(ends[0]);  // which ends the write
}

}  // namespace
}  // namespace heed::serve
