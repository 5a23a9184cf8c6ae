// Which keys of config.json and generation_config.json are read, which change nothing that is computed here,
// and which must have the value at which they change nothing. Whatever else a file says is refused by name: a
// model must not open and give other numbers than its files describe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/json_file.h"

namespace heed::models {

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

/// Throws kFormat, with key and value, for a neutral key with another value, and for a key that is unknown
/// and holds anything but null, false or something empty. Keys that begin with "_" are private to the toolkit
/// that wrote the file, and pass.
void require_known_keys(const JsonObject& json, const KnownKeys& keys);

/// `keys` of the config.json of an architecture, and those that any config.json may hold. Where both have a
/// neutral key, that of the architecture decides.
KnownKeys with_common_keys(KnownKeys keys);

/// Of generation_config.json.
const KnownKeys& generation_keys();

}  // namespace heed::models
