// Lists of JSON, written with the fewest digits that read back the same float.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// What `write` gives for each item: [a, b], with `between` instead of the comma and the space.
template <typename Items, typename Write>
std::string json_list(const Items& items, std::string_view between, const Write& write) {
  std::string list = "[";
  for (const auto& item : items) {
    if (list.size() > 1) list += between;
    list += write(item);
  }
  return list + "]";
}

/// A text in quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const std::string& text);
/// ["a", "b"]
std::string json_texts(const std::vector<std::string>& texts);
/// [0.5,1]
std::string json_numbers(std::span<const float> numbers);
/// Rows of `width` numbers: [[0.5,1],\n    [0,1]]
std::string json_rows(std::span<const float> numbers, int width);

}  // namespace heed
