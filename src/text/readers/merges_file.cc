#include "text/readers/merges_file.h"

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "text/readers/tokenizer_file.h"

namespace heed {
namespace {

WrittenMerge split_merge(std::string_view line, const std::string& origin) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
      line.find(' ', space + 1) != std::string_view::npos) {
    fail(ErrorKind::kFormat, "{}: expected two pieces separated by a space", origin);
  }
  return {std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
}

}  // namespace

std::vector<WrittenMerge> read_merges(const std::string& path) {
  const std::string content = read_tokenizer_file(path);
  std::vector<WrittenMerge> merges;
  size_t number = 0;
  for (size_t begin = 0; begin < content.size();) {
    const size_t end = std::min(content.find('\n', begin), content.size());
    std::string_view line = std::string_view(content).substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++number;
    begin = end + 1;
    if (line.empty() || (number == 1 && line.starts_with("#version"))) continue;
    merges.push_back(split_merge(line, fmt::format("{}, line {}", path, number)));
  }
  return merges;
}

}  // namespace heed
