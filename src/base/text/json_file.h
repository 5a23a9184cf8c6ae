// Typed access to configuration in JSON files: each getter checks type and range, and errors name the file,
// the key, the value found and the value expected. Exceptions of the JSON library do not escape.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/json_text.h"

namespace heed {

/// Integers from `minimum` to `maximum`, inclusive.
struct IntegerRange {
  int64_t minimum = std::numeric_limits<int64_t>::min();
  int64_t maximum = std::numeric_limits<int64_t>::max();
};

/// Finite numbers from `minimum` to `maximum`, inclusive.
struct NumberRange {
  double minimum = std::numeric_limits<double>::lowest();
  double maximum = std::numeric_limits<double>::max();
};

/// An object in a JSON file; cheap to copy. null counts as absent. For an absent key, getters return
/// `fallback`, or throw if there is none. All errors are kFormat.
class JsonObject {
 public:
  /// Reads a file whose root value is an object. Throws kNotFound, kFile or kFormat.
  static JsonObject read(const std::string& path, const JsonLimits& limits = {});
  /// The same from text; `origin` stands for the file in messages.
  static JsonObject parse(std::string_view text, const std::string& origin, const JsonLimits& limits = {});

  bool has(const std::string& key) const { return find(key) != nullptr; }
  /// All keys, sorted, including those with null values.
  std::vector<std::string> keys() const;

  int64_t integer(const std::string& key, IntegerRange range = {},
                  std::optional<int64_t> fallback = {}) const;
  double number(const std::string& key, NumberRange range = {}, std::optional<double> fallback = {}) const;
  bool boolean(const std::string& key, std::optional<bool> fallback = {}) const;
  std::string string(const std::string& key, std::optional<std::string> fallback = {}) const;
  /// A list; a single value counts as a list of one, as in "eos_token_id".
  std::vector<int64_t> integers(const std::string& key, IntegerRange range = {},
                                std::optional<std::vector<int64_t>> fallback = {}) const;
  std::vector<std::string> strings(const std::string& key,
                                   std::optional<std::vector<std::string>> fallback = {}) const;
  /// One of the words; the error for any other value suggests the nearest.
  template <typename Value>
  Value word(const std::string& key, const std::vector<std::pair<std::string, Value>>& words,
             std::optional<Value> fallback = {}) const {
    std::vector<std::string> allowed;
    for (const auto& each : words) allowed.push_back(each.first);
    if (fallback.has_value() && !has(key)) return *fallback;
    return words[word_index(key, allowed)].second;
  }
  /// A nested object.
  JsonObject object(const std::string& key) const;
  /// A list of objects.
  std::vector<JsonObject> objects(const std::string& key) const;

  /// Throws kFormat for a value that has the right type but cannot be used: "config.json: 'd_model' is 10,
  /// expected a multiple of 'num_heads' (4)".
  [[noreturn]] void reject(const std::string& key, const std::string& expected) const;

  /// The underlying JSON value.
  const nlohmann::json& json() const { return *value_; }
  /// The file name for messages.
  const std::string& origin() const { return *origin_; }

 private:
  JsonObject(std::shared_ptr<const nlohmann::json> value, std::shared_ptr<const std::string> origin,
             std::string prefix);
  const nlohmann::json* find(const std::string& key) const;
  const nlohmann::json& require(const std::string& key, const std::string& expected) const;
  JsonObject inside(const nlohmann::json& value, const std::string& key) const;
  size_t word_index(const std::string& key, const std::vector<std::string>& allowed) const;
  std::string name_of_key(const std::string& key) const;

  std::shared_ptr<const nlohmann::json> value_;  // shares ownership of the whole document
  std::shared_ptr<const std::string> origin_;
  std::string prefix_;  // path of keys to this object, "rope_parameters."; "" for the root
};

/// Writes a file atomically, indented by two spaces: nlohmann::json with sorted keys, ordered_json in its
/// order. Numbers must be finite. Throws kFile, kNumeric, or kText for invalid UTF-8.
void write_json(const std::string& path, const nlohmann::json& value);
void write_json(const std::string& path, const nlohmann::ordered_json& value);

}  // namespace heed
