// Configuration in JSON files: every value is asked for with its type and range, and whatever does not fit is
// an error that names the file, the key, what was found and what is needed. The JSON library's exceptions
// stay inside.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_text.h"

namespace heed {

/// Whole numbers from `minimum` to `maximum`, both included.
struct IntegerRange {
  int64_t minimum = std::numeric_limits<int64_t>::min();
  int64_t maximum = std::numeric_limits<int64_t>::max();
};

/// Finite numbers from `minimum` to `maximum`, both included.
struct NumberRange {
  double minimum = std::numeric_limits<double>::lowest();
  double maximum = std::numeric_limits<double>::max();
};

/// An object in a JSON file; a cheap handle. A value of null counts as absent. Each getter returns `fallback`
/// for an absent key, or throws where none is given; all throw kFormat.
class JsonObject {
 public:
  /// Reads a file whose outermost value is an object. Throws kNotFound, kFile or kFormat.
  static JsonObject read(const std::string& path, const JsonLimits& limits = {});
  /// The same from text; `origin` stands for the file in messages.
  static JsonObject parse(std::string_view text, const std::string& origin, const JsonLimits& limits = {});

  bool has(const std::string& key) const { return find(key) != nullptr; }
  /// Sorted, those with null values too.
  std::vector<std::string> keys() const;

  int64_t integer(const std::string& key, IntegerRange range = {},
                  std::optional<int64_t> fallback = {}) const;
  double number(const std::string& key, NumberRange range = {}, std::optional<double> fallback = {}) const;
  bool boolean(const std::string& key, std::optional<bool> fallback = {}) const;
  std::string string(const std::string& key, std::optional<std::string> fallback = {}) const;
  /// A list; a single value stands for a list of one, as in "eos_token_id".
  std::vector<int64_t> integers(const std::string& key, IntegerRange range = {},
                                std::optional<std::vector<int64_t>> fallback = {}) const;
  std::vector<std::string> strings(const std::string& key,
                                   std::optional<std::vector<std::string>> fallback = {}) const;
  /// One of the words; the nearest is suggested for any other.
  template <typename Value>
  Value word(const std::string& key, const std::vector<std::pair<std::string, Value>>& words,
             std::optional<Value> fallback = {}) const {
    std::vector<std::string> allowed;
    for (const auto& each : words) allowed.push_back(each.first);
    if (fallback.has_value() && !has(key)) return *fallback;
    return words[word_index(key, allowed)].second;
  }
  /// An object inside this one.
  JsonObject object(const std::string& key) const;
  /// A list of objects.
  std::vector<JsonObject> objects(const std::string& key) const;

  /// Throws for a key that is not among `known`, suggesting the nearest: for files that people write by hand.
  void allow_only(const std::vector<std::string>& known) const;
  /// Throws kFormat for a value that has the right type but cannot be used: "config.json: 'd_model' is 10, a
  /// multiple of 'num_heads' (4) is needed".
  [[noreturn]] void reject(const std::string& key, const std::string& needed) const;

  /// What the getters do not cover.
  const nlohmann::json& json() const { return *value_; }
  /// The file.
  const std::string& origin() const { return *origin_; }

 private:
  JsonObject(std::shared_ptr<const nlohmann::json> value, std::shared_ptr<const std::string> origin,
             std::string place);
  const nlohmann::json* find(const std::string& key) const;
  const nlohmann::json& need(const std::string& key, const std::string& needed) const;
  JsonObject inside(const nlohmann::json& value, const std::string& key) const;
  size_t word_index(const std::string& key, const std::vector<std::string>& allowed) const;
  std::string name_of_key(const std::string& key) const;

  std::shared_ptr<const nlohmann::json> value_;  // shares the whole file's
  std::shared_ptr<const std::string> origin_;
  std::string place_;  // the keys that lead here, "rope_parameters.", "" for the file itself
};

/// Writes a file with an indent of two spaces, whole or not at all: keys sorted, or in the order given.
/// `value` must hold finite numbers only. Throws kFile, kNumeric, or kText for strings that are not UTF-8.
void write_json(const std::string& path, const nlohmann::json& value);
void write_json(const std::string& path, const nlohmann::ordered_json& value);

}  // namespace heed
