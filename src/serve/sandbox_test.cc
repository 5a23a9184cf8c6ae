#include "serve/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "test_folder.h"

namespace heed::serve {
namespace {

/// 0, or the error of opening a file.
int open_error(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

/// Runs `work` in a thread that may read these directories of models only: restrictions are for good, and a
/// thread's. False where the kernel has none.
bool run_restricted(const std::vector<std::string>& directories, const std::function<void()>& work) {
  std::string failed;
  std::thread([&] {
    failed = restrict_thread(readable_when_serving(directories));
    if (failed.empty()) work();
  }).join();
  return failed.empty();
}

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder.path("model"));
    folder.write("model/config.json", "{}");
    folder.write("blob", "weights");
    folder.write("secret", "secret");
    std::filesystem::create_symlink(folder.path("blob"), folder.path("model/weights"));
  }
  TestFolder folder;
};

TEST_F(Sandbox, OpensOnlyWhatIsServed) {
  const std::string model = folder.path("model"), secret = folder.path("secret");
  int in_thread = 0;
  const bool restricted = run_restricted({model}, [&] {
    EXPECT_EQ(open_error(model + "/config.json", O_RDONLY), 0);
    EXPECT_EQ(open_error(model, O_RDONLY | O_DIRECTORY), 0);
    EXPECT_EQ(open_error(model + "/weights", O_RDONLY), 0) << "a link of the model";
    EXPECT_EQ(open_error(secret, O_RDONLY), EACCES);
    EXPECT_EQ(open_error(model + "/../secret", O_RDONLY), EACCES);
    EXPECT_EQ(open_error("/etc/passwd", O_RDONLY), EACCES);
    EXPECT_EQ(open_error(model + "/config.json", O_WRONLY), EACCES);
    EXPECT_EQ(open_error(model + "/new", O_WRONLY | O_CREAT), EACCES);
    EXPECT_NE(::unlink((model + "/config.json").c_str()), 0);
    std::filesystem::path later = model + "/later";
    std::error_code error;
    std::filesystem::create_symlink(secret, later, error);
    EXPECT_TRUE(error) << "the link was created";
    std::thread([&] { in_thread = open_error(secret, O_RDONLY); }).join();
  });
  if (!restricted) GTEST_SKIP() << "this kernel has no Landlock";
  EXPECT_EQ(in_thread, EACCES) << "in a thread of the restricted one";
  EXPECT_EQ(open_error(secret, O_RDONLY), 0) << "in a thread that is not restricted";
  // A link that appears later leads nowhere.
  std::filesystem::create_symlink(secret, model + "/later");
  EXPECT_TRUE(run_restricted({folder.path("other")},
                             [&] { EXPECT_EQ(open_error(model + "/later", O_RDONLY), EACCES); }));
}

// Else what could not be named would be refused later, as if its permissions were wrong.
TEST_F(Sandbox, TooManyOpenFilesAreAnError) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the sanitizers open a pipe to look at memory, and report undefined behaviour without one";
#endif
  if (!run_restricted({}, [] {})) GTEST_SKIP() << "this kernel has no Landlock";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  const rlimit one_more{static_cast<rlim_t>(next) + 1, before.rlim_max};  // for the rules
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one_more), 0);
  expect_error(ErrorKind::kFile, "Too many open files", [&] { restrict_thread({folder.path("model")}); });
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(Sandbox, StartsNoPrograms) {
  const auto run = [] {
    pid_t child = 0;
    std::string program = "/bin/true";
    char* const arguments[] = {program.data(), nullptr};
    const int error = ::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, nullptr);
    if (error == 0) ::waitpid(child, nullptr, 0);
    return error;
  };
  EXPECT_EQ(run(), 0);
  if (!run_restricted({}, [&] { EXPECT_EQ(run(), EACCES); })) GTEST_SKIP() << "this kernel has no Landlock";
}

}  // namespace
}  // namespace heed::serve
