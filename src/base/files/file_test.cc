#include "base/files/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>

#include "heed/error.h"

namespace heed {
namespace {

using ::testing::HasSubstr;

/// Each test has its own temporary folder.
class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "heed-file-test-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string in_folder(const std::string& name) const { return folder_ / name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

/// Expects an error of this kind whose message contains `part`.
template <typename Action>
void expect_file_error(ErrorKind kind, const std::string& part, Action action) {
  try {
    action();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST_F(FileTest, RoundTrip) {
  std::string content(3'000'001, '\0');  // more than the writer's buffer, and not a multiple of it
  for (size_t n = 0; n < content.size(); ++n) content[n] = static_cast<char>(n * 31 + n / 251);
  AtomicFile file(in_folder("a"));
  file.write(content.data(), 10);
  file.write(std::string_view(content).substr(10));
  EXPECT_EQ(file.size(), content.size());
  file.commit();
  EXPECT_EQ(read_file(in_folder("a")), content);
  EXPECT_EQ(MappedFile(in_folder("a")).view(), content);
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, EmptyFiles) {
  write_file(in_folder("empty"), "");
  EXPECT_EQ(read_file(in_folder("empty")), "");
  EXPECT_EQ(MappedFile(in_folder("empty")).size(), 0U);
}

TEST_F(FileTest, WithoutCommitNothingChanges) {
  write_file(in_folder("a"), "old");
  {
    AtomicFile file(in_folder("a"));
    file.write("new");
    EXPECT_EQ(files(), 2U) << "the temporary file should stand beside it, on the same file system";
    EXPECT_EQ(read_file(in_folder("a")), "old");
  }
  EXPECT_EQ(read_file(in_folder("a")), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, ReplacingKeepsPermissionsAndLinks) {
  write_file(in_folder("a"), "old");
  ASSERT_EQ(::chmod(in_folder("a").c_str(), 0600), 0);
  std::filesystem::create_symlink("a", in_folder("link"));
  write_file(in_folder("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(in_folder("link")));
  EXPECT_EQ(read_file(in_folder("a")), "new");
  struct stat status {};
  ASSERT_EQ(::stat(in_folder("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(FileTest, DanglingLinksAreWrittenThrough) {
  std::filesystem::create_directory(in_folder("data"));
  std::filesystem::create_symlink("data/second", in_folder("first"));
  std::filesystem::create_symlink("../file", in_folder("data/second"));
  write_file(in_folder("first"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(in_folder("first")));
  EXPECT_TRUE(std::filesystem::is_symlink(in_folder("data/second")));
  EXPECT_EQ(read_file(in_folder("file")), "new");

  std::filesystem::create_symlink("loop", in_folder("loop"));
  expect_file_error(ErrorKind::kFile, "symbolic links", [&] { write_file(in_folder("loop"), "new"); });
  EXPECT_TRUE(std::filesystem::is_symlink(in_folder("loop")));
}

// Such as /dev/stdout, behind which others write to the same file.
TEST_F(FileTest, OpenDescriptorsAreWrittenOn) {
  const int descriptor = ::open(in_folder("log").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::write(descriptor, "before,", 7), 7);
  const std::string number = std::to_string(descriptor);
  write_file("/dev/fd/" + number, "first,");
  std::filesystem::create_symlink("/proc/self/fd/" + number, in_folder("link"));
  write_file(in_folder("link"), "second,");
  ASSERT_EQ(::write(descriptor, "after", 5), 5);
  ::close(descriptor);
  EXPECT_EQ(read_file(in_folder("log")), "before,first,second,after");
  expect_file_error(ErrorKind::kFile, "cannot write", [&] { write_file("/dev/fd/12345", "x"); });
}

TEST_F(FileTest, PipesAreNotReplaced) {
  const std::string pipe = in_folder("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string received;
  std::thread reader([&] { received = read_input(pipe); });
  std::string sent;
  for (int n = 0; n < 200'000; ++n) sent += std::to_string(n);  // many short reads
  write_file(pipe, sent);
  reader.join();
  EXPECT_EQ(received, sent);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, ReadFileRefusesPipesDevicesAndHugeFiles) {
  const std::string pipe = in_folder("pipe"), large = in_folder("large");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Reading either would block: the pipe has no writer, and the device has no end.
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    expect_file_error(ErrorKind::kFile, "not a regular file", [&] { read_file(path); });
    expect_file_error(ErrorKind::kFile, "not a regular file", [&] { MappedFile{path}; });
  }
  write_file(large, "12345");
  EXPECT_EQ(read_file(large, 5), "12345");
  expect_file_error(ErrorKind::kFile, "it has 5 bytes; the maximum for this kind of file is 4",
                    [&] { read_file(large, 4); });
  std::filesystem::resize_file(large, uintmax_t{1} << 40);  // sparse: it takes no disk
  expect_file_error(ErrorKind::kFile, "the maximum", [&] { read_file(large); });
}

TEST_F(FileTest, PointersOfGitLfsAreRefused) {
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n";
  write_file(in_folder("model.safetensors"), pointer);
  write_file(in_folder("notes"), "A pointer begins with " + pointer);
  expect_file_error(ErrorKind::kFormat, "model.safetensors' is a pointer of Git LFS",
                    [&] { read_file(in_folder("model.safetensors")); });
  EXPECT_THAT(read_file(in_folder("notes")), testing::EndsWith(pointer));
}

TEST_F(FileTest, InputWithoutAnEndIsRefused) {
  expect_file_error(ErrorKind::kFile, "more than 16777216 bytes", [&] { read_input("/dev/zero"); });
  write_file(in_folder("four"), "1234");
  EXPECT_EQ(read_input(in_folder("four"), 4), "1234");
  expect_file_error(ErrorKind::kFile, "more than 3 bytes", [&] { read_input(in_folder("four"), 3); });
}

TEST_F(FileTest, DanglingLinksArePresent) {
  EXPECT_FALSE(is_present(in_folder("link")));
  std::filesystem::create_symlink("nowhere", in_folder("link"));
  EXPECT_TRUE(is_present(in_folder("link")));
}

TEST_F(FileTest, MissingFilesAreNotFound) {
  expect_file_error(ErrorKind::kNotFound, in_folder("none"), [&] { read_file(in_folder("none")); });
  expect_file_error(ErrorKind::kNotFound, in_folder("none"), [&] { MappedFile{in_folder("none")}; });
}

TEST_F(FileTest, DirectoriesAreNotFiles) {
  expect_file_error(ErrorKind::kFile, "directory", [&] { read_file(folder_); });
  expect_file_error(ErrorKind::kFile, "directory", [&] { read_input(folder_); });
  expect_file_error(ErrorKind::kFile, "directory", [&] { MappedFile{folder_}; });
  expect_file_error(ErrorKind::kFile, "directory", [&] { AtomicFile{folder_}; });
  EXPECT_EQ(files(), 0U);
}

TEST_F(FileTest, CreatesDirectoriesWithParents) {
  make_directories(in_folder("x/y/z"));
  make_directories(in_folder("x/y/z"));
  EXPECT_TRUE(std::filesystem::is_directory(in_folder("x/y/z")));
  write_file(in_folder("file"), "");
  expect_file_error(ErrorKind::kFile, in_folder("file"), [&] { make_directories(in_folder("file")); });
  expect_file_error(ErrorKind::kFile, in_folder("file/below"),
                    [&] { make_directories(in_folder("file/below")); });
}

/// Makes root, to whom permissions do not apply, another user while it lives.
class AsNobody {
 public:
  AsNobody() { EXPECT_EQ(root_ ? ::seteuid(65534) : 0, 0); }
  ~AsNobody() { EXPECT_EQ(root_ ? ::seteuid(0) : 0, 0); }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

  static bool may_write(const std::string& folder) {
    return ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0;
  }

 private:
  const bool root_ = ::geteuid() == 0;
};

TEST_F(FileTest, WriteProtectedFilesAreNotReplaced) {
  write_file(in_folder("a"), "old");
  ASSERT_EQ(::chmod(in_folder("a").c_str(), 0444), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0777), 0);
  {
    const AsNobody nobody;
    if (!nobody.may_write(folder_)) GTEST_SKIP() << "folders above are closed to other users";
    expect_file_error(ErrorKind::kFile, "a': Permission denied", [&] { AtomicFile{in_folder("a")}; });
    write_file(in_folder("b"), "new");  // the control
  }
  EXPECT_EQ(read_file(in_folder("a")), "old");
  EXPECT_EQ(files(), 2U);
}

TEST_F(FileTest, UnwritablePathsAreErrors) {
  expect_file_error(ErrorKind::kFile, "No such file", [&] { AtomicFile{in_folder("none/a")}; });
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  {
    const AsNobody nobody;
    expect_file_error(ErrorKind::kFile, "Permission denied", [&] { AtomicFile{in_folder("a")}; });
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
}

TEST_F(FileTest, WritableFilesOfAFolderThatIsNotAreWrittenOn) {
  write_file(in_folder("a"), "old content");
  ASSERT_EQ(::chmod(in_folder("a").c_str(), 0666), 0);
  ASSERT_EQ(::chmod(folder_.c_str(), 0555), 0);
  {
    const AsNobody nobody;
    if (::access(in_folder("a").c_str(), F_OK) != 0)
      GTEST_SKIP() << "folders above are closed to other users";
    write_file(in_folder("a"), "new");
  }
  ASSERT_EQ(::chmod(folder_.c_str(), 0700), 0);
  EXPECT_EQ(read_file(in_folder("a")), "new");
  EXPECT_EQ(files(), 1U);
}

TEST_F(FileTest, FailingDevicesAreErrors) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  AtomicFile file("/dev/full");
  file.write("anything");
  expect_file_error(ErrorKind::kFile, "No space left", [&] { file.commit(); });
  EXPECT_THROW(file.write("more"), std::logic_error) << "after a failure nothing more may be written";
}

TEST_F(FileTest, AFullDiskLeavesTheOldFile) {
  const std::string disk = in_folder("disk");
  make_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=3m") != 0) GTEST_SKIP() << "mounting needs root";
  write_file(disk + "/a", std::string(1'000'000, 'o'));
  const std::string too_much(4'000'000, 'n');
  expect_file_error(ErrorKind::kFile, "No space left", [&] { write_file(disk + "/a", too_much); });
  EXPECT_EQ(read_file(disk + "/a"), std::string(1'000'000, 'o'));
  const auto left = std::distance(std::filesystem::directory_iterator(disk), {});
  EXPECT_EQ(left, 1);
  write_file(disk + "/a", std::string(1'500'000, 'n'));  // and what fits is written
  EXPECT_EQ(std::filesystem::file_size(disk + "/a"), 1'500'000U);
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(FileTest, AFileThatIsAMountPointIsWrittenOn) {
  std::filesystem::create_directory(in_folder("host"));
  write_file(in_folder("host/file"), "old");
  write_file(in_folder("a"), "");
  if (::mount(in_folder("host/file").c_str(), in_folder("a").c_str(), nullptr, MS_BIND, nullptr) != 0)
    GTEST_SKIP() << "mounting needs root";
  const std::string content(3'000'001, 'n');
  write_file(in_folder("a"), content);
  EXPECT_EQ(read_file(in_folder("a")), content);
  write_file(in_folder("a"), "shorter");
  EXPECT_EQ(::umount(in_folder("a").c_str()), 0);
  EXPECT_EQ(read_file(in_folder("host/file")), "shorter");
  EXPECT_EQ(read_file(in_folder("a")), "");
  EXPECT_EQ(files(), 2U);
}

TEST_F(FileTest, WhatCannotBeCopiedIsKept) {
  const std::string disk = in_folder("disk");
  make_directories(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "mounting needs root";
  write_file(disk + "/file", "old");
  write_file(in_folder("a"), "");
  ASSERT_EQ(::mount((disk + "/file").c_str(), in_folder("a").c_str(), nullptr, MS_BIND, nullptr), 0);
  const std::string content(3'000'000, 'n');
  std::string message;
  try {
    write_file(in_folder("a"), content);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_THAT(message, testing::HasSubstr("No space left"));
  EXPECT_EQ(read_file(in_folder("a")), "old");
  const size_t name = message.find("is in '") + 7;
  EXPECT_EQ(read_file(message.substr(name, message.size() - name - 1)), content);
  EXPECT_EQ(::umount(in_folder("a").c_str()), 0);
  EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(FileTest, AMappingMoves) {
  write_file(in_folder("a"), "abc");
  write_file(in_folder("b"), "defg");
  MappedFile first(in_folder("a"));
  MappedFile second(std::move(first));
  EXPECT_EQ(second.view(), "abc");
  second = MappedFile(in_folder("b"));
  EXPECT_EQ(second.view(), "defg");
}

}  // namespace
}  // namespace heed
