#include "serve/http/api_keys.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/files/input_file.h"
#include "text/unicode/whitespace.h"

namespace heed::serve {

ApiKeys ApiKeys::load(const std::string& path) {
  constexpr size_t kShortest = 16, kLargestFile = 1 << 20;
  const InputFile file(path);
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) fail(ErrorKind::kFile, "cannot examine '{}'", path);
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0 || (status.st_uid != ::geteuid() && status.st_uid != 0)) {
    fail(ErrorKind::kFile,
         "'{}' holds API keys, and others than its owner can read or change it: chmod 600 it, and let it "
         "belong to the user that runs this",
         path);
  }
  if (file.size() > kLargestFile) fail(ErrorKind::kFile, "'{}' is too large for a file of API keys", path);
  std::string content(file.size(), '\0');
  file.read_at(0, content.data(), content.size());
  ApiKeys keys;
  std::string_view rest = content;
  for (size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view key = strip(line);
    if (key.empty() || key.front() == '#') continue;
    if (key.size() < kShortest) {
      fail(ErrorKind::kFormat, "line {} of '{}': a key needs at least {} characters", number, path,
           kShortest);
    }
    keys.keys_.emplace_back(key);
  }
  if (keys.keys_.empty()) fail(ErrorKind::kFormat, "'{}' holds no API key: write one into each line", path);
  return keys;
}

bool equal_in_constant_time(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t n = 0; n < given.size(); ++n) {
    const char other = secret.empty() ? '\0' : secret[n % secret.size()];
    difference |= static_cast<unsigned char>(given[n]) ^ static_cast<unsigned char>(other);
  }
  // volatile: the compiler must not return at the first difference.
  return *const_cast<volatile unsigned*>(&difference) == 0;
}

std::optional<size_t> ApiKeys::find(std::string_view key) const {
  size_t found = 0;
  for (size_t n = 0; n < keys_.size(); ++n) {
    const size_t same = equal_in_constant_time(key, keys_[n]) ? 1 : 0;
    found = same * (n + 1) + (1 - same) * found;
  }
  if (found == 0) return {};
  return found;
}

}  // namespace heed::serve
