// Rotary positions in config.json: rope_parameters of transformers 5, rope_theta and rope_scaling before.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/text/json_file.h"
#include "ops/attention/rotary_frequencies.h"

namespace heed::models {

/// The rotary positions of a model, or of one kind of its layers.
struct Rotary {
  double base = 10000;
  ops::RotaryScaling scaling{};
  /// The factor of "dynamic" scaling, which begins beyond max_position_embeddings and thus changes nothing
  /// here; 0: none.
  double dynamic_factor = 0;
  bool operator==(const Rotary&) const = default;
};

/// What rotary parameters that leave it out take from the config.
struct RotaryDefaults {
  double base = 10000;
  double max_length = 2048;  ///< max_position_embeddings
  double original_length =
      0;  ///< original_max_position_embeddings of the config itself, which decides; 0: none
};
/// Reads the object `key` of a config, such as rope_parameters or rope_scaling; the defaults without it.
/// Throws kFormat for scalings that Heed does not support, with their names.
Rotary read_rotary(const JsonObject& config, const std::string& key, const RotaryDefaults& defaults);
/// Whether `parameters`, of rope_parameters, agree with `older`, of the keys of versions of transformers
/// before 5, as far as a file has these: `base_key` about the base alone, rope_scaling about everything.
bool agrees_with_older_keys(const JsonObject& config, const Rotary& parameters, const std::string& base_key,
                            const Rotary& older);
/// The keys that read_rotary_positions() reads.
const std::vector<std::string>& rotary_keys();
/// Reads rope_parameters, or else rope_theta and rope_scaling. A file may contain both if they agree.
Rotary read_rotary_positions(const JsonObject& config, RotaryDefaults defaults);

/// The object for rope_parameters.
nlohmann::ordered_json rotary_json(const Rotary& rotary);
/// Writes rope_parameters, and rope_theta and rope_scaling for versions of transformers before 5.
void write_rotary_positions(const Rotary& rotary, nlohmann::ordered_json& json);

}  // namespace heed::models
