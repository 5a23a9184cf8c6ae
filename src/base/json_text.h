// JSON text from anywhere, read as hostile: bounded in size and depth, no repeated keys, valid UTF-8, and
// every failure a heed::Error that says where.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace heed {

struct JsonLimits {
  size_t bytes =
      size_t{64} << 20;  ///< the largest text; the largest vocabularies have some tens of megabytes
  int depth = 64;        ///< how many arrays and objects may stand inside each other
};

/// Parses `text`; `origin` names it in messages ("config.json"). Throws kFormat.
nlohmann::json parse_json(std::string_view text, const std::string& origin, const JsonLimits& limits = {});
/// The same with members in the order of the text, for files that are written again.
nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& origin,
                                          const JsonLimits& limits = {});

namespace internal {

/// What the parser says (its exception's what()) about a place in `text`, for a message: "line 3, column 7:
/// ...".
std::string describe_json_error(std::string_view text, size_t position, std::string_view what);

}  // namespace internal
}  // namespace heed
