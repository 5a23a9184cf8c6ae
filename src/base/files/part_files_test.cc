#include "base/files/part_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/file_lock.h"
#include "base/text/utf8_length.h"
#include "test_folder.h"

namespace {

/// The file operations of this program in order, recorded by the two functions below, which replace libc's.
std::vector<std::string>& file_operations() {
  static std::vector<std::string> list;
  return list;
}

/// Whether files cannot be replaced, as if they were mount points.
bool files_are_mount_points = false;

}  // namespace

extern "C" int fsync(int descriptor) {
  struct stat status {};
  ::fstat(descriptor, &status);
  file_operations().emplace_back(S_ISDIR(status.st_mode) ? "flush directory" : "flush file");
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

extern "C" int rename(const char* from, const char* to) noexcept {
  file_operations().emplace_back("rename");
  if (files_are_mount_points) {
    errno = EBUSY;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace heed {
namespace {

namespace fs = std::filesystem;

/// Runs `work` in a process that is then killed.
template <typename Work>
void in_killed_process(const Work& work) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    work();
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(PartFiles, CommitIsDurable) {
  const TestFolder folder;
  file_operations().clear();
  write_file(folder.path("a"), "content");
  EXPECT_EQ(file_operations(), (std::vector<std::string>{"flush file", "rename", "flush directory"}));
  file_operations().clear();
  make_directories(folder.path("b/c"));
  EXPECT_EQ(file_operations(), (std::vector<std::string>{"flush directory", "flush directory"}));
}

TEST(PartFiles, AMountPointIsWrittenOn) {
  const TestFolder folder;
  const std::string content = std::string(3 << 20, 'n') + "end";
  folder.write("a", "old");
  file_operations().clear();
  files_are_mount_points = true;
  write_file(folder.path("a"), content);
  EXPECT_EQ(file_operations(),
            (std::vector<std::string>{"flush file", "rename", "flush file", "flush directory"}));
  EXPECT_EQ(content_of(folder.path("a")), content);
  write_file(folder.path("a"), "shorter");
  files_are_mount_points = false;
  EXPECT_EQ(content_of(folder.path("a")), "shorter");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(PartFiles, TheNextWriteRemovesPartsOfKilledWriters) {
  const TestFolder folder;
  in_killed_process([&] {
    auto* file = new AtomicFile(folder.path("a"));
    file->write(std::string(3 << 20, 'x'));
  });
  EXPECT_EQ(folder.entries(), 1u) << "the control: the part should still be there";
  write_file(folder.path("b"), "of another name");
  EXPECT_EQ(folder.entries(), 2u);
  write_file(folder.path("a"), "new");
  EXPECT_EQ(folder.entries(), 2u);
  EXPECT_EQ(content_of(folder.path("a")), "new");
}

TEST(PartFiles, PartsOfRunningWritersStay) {
  const TestFolder folder;
  AtomicFile first(folder.path("a"));
  first.write("first");
  const std::string in_the_making = folder.path("d.heed-1-0.part");
  make_directories(in_the_making);
  const int descriptor = ::open(in_the_making.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_TRUE(lock_part(descriptor));
  // Another process, as locks are a process's.
  in_killed_process([&] {
    remove_dead_parts_in(folder.path());
    write_file(folder.path("a"), "second");
  });
  EXPECT_EQ(content_of(folder.path("a")), "second");
  EXPECT_TRUE(std::filesystem::exists(in_the_making));
  first.commit();
  EXPECT_EQ(content_of(folder.path("a")), "first");
  ::close(descriptor);
  remove_dead_parts_in(folder.path());
  EXPECT_FALSE(std::filesystem::exists(in_the_making));
}

// Such as those of a process with the same id, in another container that writes to the same folder.
TEST(PartFiles, NamesThatExistAreLeftOut) {
  const TestFolder folder;
  const std::string path = folder.path("a"), name = part_name(path);
  const size_t dash = name.rfind('-'), end = name.rfind('.');
  const int number = std::stoi(name.substr(dash + 1, end - dash - 1));
  std::vector<int> locks;
  for (int n = 1; n <= 3; ++n) {
    const std::string other = folder.write(
        fs::path(fmt::format("{}-{}.part", name.substr(0, dash), number + n)).filename(), "of the other");
    locks.push_back(::open(other.c_str(), O_RDONLY));
    ASSERT_TRUE(lock_part(locks.back()));
  }
  write_file(path, "mine");
  EXPECT_EQ(content_of(path), "mine");
  EXPECT_EQ(folder.entries(), 4u);
  for (const int lock : locks) ::close(lock);
}

TEST(PartFiles, NamesMayBeAsLongAsTheSystemAllows) {
  const TestFolder folder;
  std::string longest;
  for (int n = 0; n < 85; ++n) longest += "語";  // three bytes each
  for (const std::string& name : {longest, longest.substr(0, 252) + "abc", std::string(236, 'x')}) {
    in_killed_process([&] { (new AtomicFile(folder.path(name)))->write("left behind"); });
    EXPECT_EQ(folder.entries(), 1u) << "the control: the part should still be there";
    const std::string part = fs::directory_iterator(folder.path())->path().filename();
    EXPECT_TRUE(is_utf8(part)) << part;
    write_file(folder.path(name.substr(0, name.size() - 3)), "of a similar name");
    EXPECT_EQ(folder.entries(), 2u);
    write_file(folder.path(name), "mine");
    EXPECT_EQ(content_of(folder.path(name)), "mine");
    EXPECT_EQ(folder.entries(), 2u);
    for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
  }
}

TEST(PartFiles, OtherNamesAreNotTouched) {
  const TestFolder folder;
  for (const char* name :
       {"a.part", "a.heed-x-0.part", "a.heed-1-.part", "a.heed-1-0.parts", "a.heed-1.part"}) {
    folder.write(name, "mine");
  }
  remove_dead_parts_in(folder.path());
  remove_dead_parts_of(folder.path("a"));
  EXPECT_EQ(folder.entries(), 5u);
  folder.write("a.heed-1-0.part", "left behind");
  remove_dead_parts_of(folder.path("b"));
  EXPECT_EQ(folder.entries(), 6u);
  remove_dead_parts_of(folder.path("a"));
  EXPECT_EQ(folder.entries(), 5u);
}

TEST(FileLock, IsHeldUntilTheProcessEnds) {
  const TestFolder folder;
  const std::string path = folder.path("lock");
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const FileLock lock = FileLock::take(path, "the thing");
    if (::write(ends[1], "x", 1) == 1) ::pause();
    static_cast<void>(lock);  // held until here
    ::_exit(1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  expect_error(ErrorKind::kUsage, "the thing is in use by process " + std::to_string(child),
               [&] { FileLock::take(path, "the thing"); });
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  FileLock lock = FileLock::take(path, "the thing");
  EXPECT_TRUE(lock.held());
  EXPECT_EQ(content_of(path), std::to_string(::getpid()) + "\n");
  lock.release();
  EXPECT_FALSE(lock.held());
  EXPECT_TRUE(FileLock::take(path, "the thing").held());
}

}  // namespace
}  // namespace heed
