#include "base/files/part_files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "base/files/directory_listing.h"
#include "base/files/file.h"
#include "base/files/fingerprint.h"
#include "base/files/unfinished_files.h"
#include "base/text/ascii.h"

namespace heed {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMark = ".heed-", kEnd = ".part";
constexpr size_t kLongestName = NAME_MAX;
constexpr size_t kLongestNumber = 10;  // of a process, and of a part
constexpr size_t kLongestStem = kLongestName - kMark.size() - 2 * kLongestNumber - 1 - kEnd.size();

/// What the names of the parts of a file begin with: its name, or if that leaves no room for the rest, its
/// beginning and a hash.
std::string stem_of(const std::string& name) {
  if (name.size() <= kLongestStem) return name;
  Fingerprint all;
  all.add(name);
  const std::string end = fmt::format("~{}", hexadecimal(all.value()));
  size_t kept = kLongestStem - end.size();
  while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0U) == 0x80) --kept;  // within a character
  return name.substr(0, kept) + end;
}

/// Whether a name is `stem` followed by ".heed-123-4.part"; an empty stem matches any.
bool is_part(std::string_view name, std::string_view stem) {
  const size_t mark = name.rfind(kMark);
  if (!name.ends_with(kEnd) || mark == std::string_view::npos) return false;
  if (!stem.empty() && name.substr(0, mark) != stem) return false;
  name.remove_suffix(kEnd.size());
  const std::string_view numbers = name.substr(std::min(mark + kMark.size(), name.size()));
  const size_t dash = numbers.find('-');
  const auto is_number = [](std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_ascii_digit);
  };
  return dash != std::string_view::npos && is_number(numbers.substr(0, dash)) &&
         is_number(numbers.substr(dash + 1));
}

/// Removes a part whose writer no longer holds the lock.
void remove_if_dead(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return;
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ::close(descriptor);
}

void remove_dead_parts(const std::string& directory, std::string_view stem) {
  std::error_code error;
  for (const std::string& name : names_in(directory, error)) {
    if (is_part(name, stem)) remove_if_dead(fs::path(directory) / name);
  }
}

}  // namespace

std::string part_name(const std::string& path) {
  static std::atomic<unsigned> counter{0};
  const std::string name = fs::path(path).filename().string();
  const std::string folder = path.substr(0, path.size() - name.size());
  return fmt::format("{}{}{}{}-{}{}", folder, stem_of(name), kMark, ::getpid(), counter++, kEnd);
}

std::string create_part(const std::string& path, const std::function<bool(const std::string&)>& create) {
  while (true) {
    std::string name = part_name(path);
    note_unfinished(name);
    if (create(name)) return name;
    const int number = errno;
    forget_unfinished(name);
    errno = number;
    if (number != EEXIST) return {};
  }
}

bool lock_part(int descriptor) {
  // Fails if another process is about to remove the part, and on file systems without locks.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

void remove_dead_parts_of(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (!name.empty()) remove_dead_parts(directory_of(path), stem_of(name));
}

void remove_dead_parts_in(const std::string& directory) {
  remove_dead_parts(directory, "");
}

}  // namespace heed
