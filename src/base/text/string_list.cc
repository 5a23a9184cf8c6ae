#include "base/text/string_list.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/file.h"
#include "base/text/json_text.h"
#include "base/text/utf8_length.h"

namespace heed {

std::string string_list_file(const ModelInventory& files, const std::string& name) {
  const bool is_text = files.has(name + ".txt") && !files.has(name + ".json");
  return name + (is_text ? ".txt" : ".json");
}

bool has_string_list(const ModelInventory& files, const std::string& name) {
  return files.has(string_list_file(files, name));
}

std::vector<std::string> read_string_list(const ModelInventory& files, const std::string& name) {
  constexpr size_t kMaxBytes = size_t{64} << 20;
  const std::string file = files.path(string_list_file(files, name)), text = read_file(file, kMaxBytes);
  std::vector<std::string> strings;
  if (file.ends_with(".json")) {
    const nlohmann::json list = parse_json(text, file);
    if (!list.is_array()) fail(ErrorKind::kFormat, "{}: expected a list of strings", file);
    for (const auto& each : list) {
      if (!each.is_string()) fail(ErrorKind::kFormat, "{}: {} is not a string", file, shown(each.dump()));
      strings.push_back(each.get<std::string>());
    }
    return strings;
  }
  if (!is_utf8(text)) fail(ErrorKind::kFormat, "{} is not valid UTF-8", file);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    strings.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return strings;
}

}  // namespace heed
