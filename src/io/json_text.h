// JSON text from anywhere, read as hostile: bounded in size and depth, no repeated keys, valid UTF-8, and
// every failure a heed::Error that says where.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace heed {

struct JsonLimits {
  size_t bytes =
      size_t{64} << 20;  ///< the largest text; the largest vocabularies have some tens of megabytes
  int depth = 64;        ///< how many arrays and objects may stand inside each other
};

/// Parses `text`; `origin` names it in messages ("config.json"). Throws kFormat.
nlohmann::json parse_json(std::string_view text, const std::string& origin, const JsonLimits& limits = {});

/// A name or value out of a file as it may stand in a message: cut to a sensible length, control characters
/// and broken UTF-8 escaped.
std::string shown(std::string_view text, size_t longest = 80);

namespace internal {

/// What the parser says (its exception's what()) about a place in `text`, for a message: "line 3, column 7:
/// ...".
std::string describe_json_error(std::string_view text, size_t position, std::string_view what);

}  // namespace internal
}  // namespace heed
