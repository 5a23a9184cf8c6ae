#include "base/files/directory_listing.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>

#include "base/check.h"
#include "base/files/errno_reason.h"

namespace heed {

std::vector<std::string> names_in(const std::string& directory, std::error_code& error) {
  std::vector<std::string> names;
  errno = 0;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(directory.c_str()), ::closedir);
  while (stream != nullptr) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  error.assign(errno, std::generic_category());
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> names_in(const std::string& directory) {
  std::error_code error;
  std::vector<std::string> names = names_in(directory, error);
  if (error) fail(ErrorKind::kFile, "cannot list the directory '{}': {}", directory, reason(error.value()));
  return names;
}

}  // namespace heed
