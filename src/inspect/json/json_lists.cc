#include "inspect/json/json_lists.h"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "text/unicode/utf8.h"

namespace heed {

std::string json_text(const std::string& text) {
  return nlohmann::json(replace_invalid_utf8(text)).dump();
}

std::string json_texts(const std::vector<std::string>& texts) {
  return json_list(texts, ", ", json_text);
}

/// fmt writes a float with the fewest digits that read back the same.
std::string json_numbers(std::span<const float> numbers) {
  std::string list = "[";
  for (const float number : numbers) {
    fmt::format_to(std::back_inserter(list), "{}{}", list.size() == 1 ? "" : ",", number);
  }
  return list + "]";
}

std::string json_rows(std::span<const float> numbers, int width) {
  std::string list = "[";
  for (size_t begin = 0; begin < numbers.size(); begin += static_cast<size_t>(width)) {
    list += (begin == 0 ? "" : ",\n    ") + json_numbers(numbers.subspan(begin, static_cast<size_t>(width)));
  }
  return list + "]";
}

}  // namespace heed
