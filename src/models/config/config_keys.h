// The known keys of config.json and generation_config.json (base/text/known_keys.h). Other keys are refused
// by name: a model must not load and silently compute something else than its files describe.
#pragma once

#include <string>

#include "base/text/json_file.h"
#include "base/text/known_keys.h"

namespace heed::models {

/// `keys` of an architecture's config.json and the common keys. The architecture's neutral keys take
/// precedence.
KnownKeys with_common_keys(KnownKeys keys);

/// Whether a file has a key with null, where that is not the same as a missing key.
bool is_null(const JsonObject& json, const std::string& key);

/// The keys of generation_config.json.
const KnownKeys& generation_keys();

}  // namespace heed::models
