#include "base/text/string_list.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/json_text.h"
#include "base/text/utf8_length.h"

namespace heed {

bool has_string_list(const std::string& path) {
  return is_present(path + ".json") || is_present(path + ".txt");
}

std::vector<std::string> read_string_list(const std::string& path) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  std::vector<std::string> strings;
  if (const std::string file = path + ".json"; is_present(file) || !is_present(path + ".txt")) {
    const nlohmann::json list = parse_json(read_file(file, kMaxBytes), file);
    if (!list.is_array()) fail(ErrorKind::kFormat, "{}: expected a list of strings", file);
    for (const auto& each : list) {
      if (!each.is_string()) fail(ErrorKind::kFormat, "{}: {} is not a string", file, shown(each.dump()));
      strings.push_back(each.get<std::string>());
    }
    return strings;
  }
  const std::string file = path + ".txt", text = read_file(file, kMaxBytes);
  if (!is_utf8(text)) fail(ErrorKind::kFormat, "{} is not valid UTF-8", file);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    strings.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return strings;
}

}  // namespace heed
