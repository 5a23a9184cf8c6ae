#include "cli/number_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

namespace heed::cli {

CLI::Validator whole_number(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](const std::string& text) -> std::string {
        int64_t number = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        if (read.ec == std::errc() && read.ptr == end && number >= least && number <= most) return {};
        return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
      },
      "");
}

CLI::Validator positive_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double number = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        if (read.ec == std::errc() && read.ptr == end && std::isfinite(number) && number > 0) return {};
        return fmt::format("'{}' is not a number above 0", text);
      },
      "");
}

}  // namespace heed::cli
