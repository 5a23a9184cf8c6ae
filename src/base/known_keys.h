// The keys that a settings file of another library may have: those that are read, those that change nothing
// here, and those that must have the value at which they change nothing. Any other key is refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace heed {

/// A key that Heed does not act on, and the values at which that makes no difference. null is always one.
struct NeutralKey {
  std::string key;
  std::vector<nlohmann::json> values;
};

struct KnownKeys {
  std::vector<std::string> read;     ///< whoever reads the file checks their values
  std::vector<std::string> ignored;  ///< change nothing that is computed here
  std::vector<NeutralKey> neutral;
};

/// Read, ignored and neutral keys.
std::vector<std::string> all_names(const KnownKeys& keys);

/// Throws kFormat, with key and value, for a neutral key with another value, and for a key that is unknown
/// and holds anything but null, false or something empty. Keys that begin with "_" are private to the toolkit
/// that wrote the file, and pass.
void require_known_keys(const JsonObject& json, const KnownKeys& keys);

}  // namespace heed
