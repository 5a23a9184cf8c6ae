// A JSON parser for untrusted input: limits on size and depth, no duplicate keys, valid UTF-8 only, and
// errors with the position.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/text/printable.h"

namespace heed {

struct JsonLimits {
  size_t bytes = size_t{64} << 20;  ///< maximum size; large vocabularies have tens of megabytes
  int depth = 64;                   ///< maximum nesting of arrays and objects
  /// The member of the outermost object that has at most so many elements; none if empty. A longer one is
  /// refused before the rest of it takes memory.
  std::string_view list = {};
  size_t list_elements = 0;
};

/// Parses `text`; `origin` names it in messages ("config.json"). Throws kFormat.
nlohmann::json parse_json(std::string_view text, const std::string& origin, const JsonLimits& limits = {});
/// Keeps the order of members, for files that are written back.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& origin,
                                          const JsonLimits& limits = {});

namespace internal {

/// Formats an error of the JSON parser with its position in `text`: "line 3, column 7: ...".
std::string describe_json_error(std::string_view text, size_t position, std::string_view what);

}  // namespace internal
}  // namespace heed
