// A family's config.json, described once: which key is which field, with its range and default. Reading,
// writing and refusing unknown keys follow from the description.
//
//   void describe(ConfigFields& fields, Config& c) {
//     fields.integer("hidden_size", c.width, {1, 1 << 16});
//     fields.number("rms_norm_eps", c.norm_epsilon, {0, 1}, 1e-6);
//     fields.ignore({"pretraining_tp"});
//   }
//   Config c = read_config(json, describe, Config{});
//   write_config(c, describe, json);
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "models/config/config_keys.h"
#include "models/directory/model_settings.h"

namespace heed::models {

/// The token ids of a key, which may hold one or a list of them; -1 stands for none. A missing key means
/// `fallback`, if the vocabulary has that id: a model with a vocabulary of its own was not made by the
/// family's defaults. null means none.
std::vector<int64_t> read_token_ids(const JsonObject& json, const std::string& key, int64_t vocabulary,
                                    int32_t fallback);

/// Passed through a description. It reads the fields from a file, writes them to one, or does neither; it
/// always collects the keys. Fields without a default are required.
class ConfigFields {
 public:
  ConfigFields();
  explicit ConfigFields(const JsonObject& source);
  explicit ConfigFields(nlohmann::ordered_json& target);
  ~ConfigFields();
  ConfigFields(const ConfigFields&) = delete;
  ConfigFields& operator=(const ConfigFields&) = delete;

  void integer(const std::string& key, int64_t& field, IntegerRange range,
               std::optional<int64_t> fallback = {});
  void integer(const std::string& key, int32_t& field, IntegerRange range,
               std::optional<int64_t> fallback = {});
  void number(const std::string& key, double& field, NumberRange range, std::optional<double> fallback = {});
  void boolean(const std::string& key, bool& field, bool fallback);
  /// One of the words; `preferred` is written for `fallback`, if it has several.
  template <typename Value>
  void word(const std::string& key, Value& field, const Words<Value>& words,
            std::type_identity_t<std::optional<Value>> fallback = {}, const std::string& preferred = "") {
    add_key(key);
    if (source_ != nullptr) field = source_->word(key, words, fallback);
    if (target_ != nullptr) {
      put(key, field == fallback && !preferred.empty() ? preferred : name_in(words, field));
    }
  }
  /// A token id; -1, written as null: none. A missing key means `fallback`, if the vocabulary has that id.
  void token_id(const std::string& key, int32_t& field, int64_t vocabulary, int32_t fallback = -1);
  /// Keys that `read` and `write` deal with, where they stand in no simple relation to fields.
  void custom(const std::vector<std::string>& keys, const std::function<void(const JsonObject&)>& read,
              const std::function<void(nlohmann::ordered_json&)>& write);
  /// What follows from fields above, and checks of them: when reading only.
  void derive(const std::function<void(const JsonObject&)>& derivation);

  /// A key with one value: written, and refused with another.
  void constant(const std::string& key, bool value);
  /// Keys that another reader of the file checks.
  void read_elsewhere(const std::vector<std::string>& keys);
  /// Keys that do not change results.
  void ignore(const std::vector<std::string>& keys);
  /// A key that is refused with other values than these and null.
  void neutral(const std::string& key, std::vector<nlohmann::json> values);

  const KnownKeys& keys() const { return keys_; }

 private:
  void add_key(const std::string& key);
  void put(const std::string& key, const std::string& value);

  const JsonObject* source_ = nullptr;
  nlohmann::ordered_json* target_ = nullptr;
  KnownKeys keys_;
};

/// The keys of a description.
template <typename Config, typename Describe>
KnownKeys keys_of(const Describe& describe, Config config) {
  ConfigFields fields;
  describe(fields, config);
  return fields.keys();
}

/// `defaults`, with the fields that a description reads from a file. Throws kFormat for keys that the
/// description does not know, and for invalid values.
template <typename Config, typename Describe>
Config read_config(const JsonObject& json, const Describe& describe, Config defaults) {
  require_known_keys(json, with_common_keys(keys_of(describe, defaults)));
  ConfigFields fields(json);
  describe(fields, defaults);
  return defaults;
}

/// Adds the fields of a description to `json`, in its order.
template <typename Config, typename Describe>
void write_config(Config config, const Describe& describe, nlohmann::ordered_json& json) {
  ConfigFields fields(json);
  describe(fields, config);
}

}  // namespace heed::models
