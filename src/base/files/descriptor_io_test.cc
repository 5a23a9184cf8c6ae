// Signals and short writes.
#include "base/files/descriptor_io.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/files/file.h"
#include "test_folder.h"

namespace heed {
namespace {

std::atomic<int> handled{0};
std::atomic<bool> ending{false};

/// Interrupts this thread's system calls from another thread, again and again until destroyed.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++handled; };  // without SA_RESTART
    ::sigaction(SIGUSR1, &action, &before_);
    thread_ = std::thread([this, target = ::pthread_self()] {
      while (!done_) {
        ::pthread_kill(target, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
  }
  ~Interruptions() {
    done_ = true;
    thread_.join();
    ::sigaction(SIGUSR1, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  std::atomic<bool> done_{false};
  std::thread thread_;
};

TEST(DescriptorIo, SignalsDoNotEndReads) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  handled = 0;
  std::thread writer([&] {
    while (handled < 20) std::this_thread::yield();
    EXPECT_TRUE(write_all(ends[1], "dog", 3));
  });
  char text[8];
  {
    const Interruptions interruptions;
    EXPECT_EQ(read_some(ends[0], text, sizeof text), 3);
  }
  writer.join();
  EXPECT_GE(handled, 20);

  // A signal that ends the process does.
  ending = true;
  end_reads_once(&ending);
  {
    const Interruptions interruptions;
    EXPECT_EQ(read_some(ends[0], text, sizeof text), -1);
    EXPECT_EQ(errno, EINTR);
  }
  end_reads_once(nullptr);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(DescriptorIo, SignalsDoNotEndWrites) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string sent(1 << 20, 'a');  // more than a pipe holds: written in parts
  std::string received;
  std::thread reader([&] {
    char part[4096];
    while (received.size() < sent.size()) {
      const ssize_t count = read_some(ends[0], part, sizeof part);
      ASSERT_GT(count, 0);
      received.append(part, static_cast<size_t>(count));
    }
  });
  {
    const Interruptions interruptions;
    EXPECT_TRUE(write_all(ends[1], sent.data(), sent.size()));
  }
  reader.join();
  EXPECT_TRUE(received == sent);
  ::close(ends[0]);
  ::close(ends[1]);
}

/// Ends this process with status 3 if writing 100 bytes to a file that may have 60 fails with the reason.
[[noreturn]] void write_beyond_the_limit(const std::string& path) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{60, 60};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT, 0600);
  errno = EINTR;
  const bool written = write_all(file, std::string(100, 'a').data(), 100);
  std::_Exit(!written && errno == EFBIG ? 3 : 4);
}

TEST(DescriptorIoDeathTest, ShortWritesHaveTheirReason) {
  const TestFolder folder;
  EXPECT_EXIT(write_beyond_the_limit(folder.path("file")), testing::ExitedWithCode(3), "");
  EXPECT_EQ(read_file(folder.path("file")).size(), 60u);
}

}  // namespace
}  // namespace heed
