// Checks the keys of another library's config file. A key is read, ignored because it does not affect
// results, or accepted only with its neutral value. All other keys are errors that name the key.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"

namespace heed {

/// A key that Heed does not implement, and the values for which that makes no difference. null is always
/// neutral.
struct NeutralKey {
  // Defined where nlohmann::json is complete: a vector of an incomplete type may be declared, not used.
  NeutralKey(std::string name, std::vector<nlohmann::json> neutral_values);
  NeutralKey(const NeutralKey&);
  NeutralKey(NeutralKey&&) noexcept;
  NeutralKey& operator=(const NeutralKey&);
  NeutralKey& operator=(NeutralKey&&) noexcept;
  ~NeutralKey();

  std::string key;
  std::vector<nlohmann::json> values;
};

struct KnownKeys {
  std::vector<std::string> read;     ///< their values are checked by the reader of the file
  std::vector<std::string> ignored;  ///< do not affect Heed's computations
  std::vector<NeutralKey> neutral;
};

/// Read, ignored and neutral keys.
std::vector<std::string> all_names(const KnownKeys& keys);

/// Throws kFormat, with key and value, for a neutral key with another value, and for an unknown key whose
/// value is not null, false or empty. Keys that begin with "_" are private to the toolkit that wrote the
/// file, and accepted.
void require_known_keys(const JsonObject& json, const KnownKeys& keys);

}  // namespace heed
