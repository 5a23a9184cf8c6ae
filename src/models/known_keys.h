// Which keys of config.json and generation_config.json are read, which change nothing that is computed here,
// and which must have the value at which they change nothing. Whatever else a file says is refused by name: a
// model must not open and give other numbers than its files describe.
#pragma once

#include "base/known_keys.h"

namespace heed::models {

/// `keys` of the config.json of an architecture, and those that any config.json may hold. Where both have a
/// neutral key, that of the architecture decides.
KnownKeys with_common_keys(KnownKeys keys);

/// Of generation_config.json.
const KnownKeys& generation_keys();

}  // namespace heed::models
