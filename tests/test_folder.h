// A temporary directory for tests, and a check of error messages.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "heed/error.h"

namespace heed {

class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "heed-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a folder for tests: " + name);
    path_ = name;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  /// Writes a file, not flushed to disk (unlike write_file), and returns its path.
  std::string write(const std::string& name, std::string_view content) const {
    std::filesystem::remove(
        path(name));  // some file systems flush a file that is truncated and written again
    std::ofstream file(path(name), std::ios::binary);
    file << content;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path(name));
    return path(name);
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Copies a folder into one that may exist, so that its owner can write there even if fixtures are read-only.
inline void copy_folder(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  fs::create_directories(to);
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    const fs::path copy = to / fs::relative(entry.path(), from);
    if (entry.is_directory()) {
      fs::create_directory(copy);
    } else {
      fs::copy_file(entry.path(), copy);
      fs::permissions(copy, fs::perms::owner_write, fs::perm_options::add);
    }
  }
}

/// Expects body() to throw an Error of this kind whose message contains `part`.
template <typename Body>
void expect_error(ErrorKind kind, std::string_view part, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(kind)) << error.what();
    EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
        << "the message is: " << error.what() << "\nand does not hold: " << part;
    return;
  }
  ADD_FAILURE() << "no error; expected one with: " << part;
}

}  // namespace heed
