#include "models/config/config_fields.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace heed::models {

ConfigFields::ConfigFields() = default;
ConfigFields::ConfigFields(const JsonObject& source) : source_(&source) {}
ConfigFields::ConfigFields(nlohmann::ordered_json& target) : target_(&target) {}
ConfigFields::~ConfigFields() = default;

void ConfigFields::add_key(const std::string& key) {
  keys_.read.push_back(key);
}

void ConfigFields::integer(const std::string& key, int64_t& field, IntegerRange range,
                           std::optional<int64_t> fallback) {
  add_key(key);
  if (source_ != nullptr) field = source_->integer(key, range, fallback);
  if (target_ != nullptr) (*target_)[key] = field;
}

void ConfigFields::integer(const std::string& key, int32_t& field, IntegerRange range,
                           std::optional<int64_t> fallback) {
  int64_t value = field;
  integer(key, value, range, fallback);
  field = static_cast<int32_t>(value);
}

void ConfigFields::number(const std::string& key, double& field, NumberRange range,
                          std::optional<double> fallback) {
  add_key(key);
  if (source_ != nullptr) field = source_->number(key, range, fallback);
  if (target_ != nullptr) (*target_)[key] = field;
}

void ConfigFields::boolean(const std::string& key, bool& field, bool fallback) {
  add_key(key);
  if (source_ != nullptr) field = source_->boolean(key, fallback);
  if (target_ != nullptr) (*target_)[key] = field;
}

std::vector<int64_t> read_token_ids(const JsonObject& json, const std::string& key, int64_t vocabulary,
                                    int32_t fallback) {
  if (json.has(key)) return json.integers(key, {-1, vocabulary - 1});
  if (is_null(json, key) || fallback < 0 || fallback >= vocabulary) return {};
  return {fallback};
}

void ConfigFields::token_id(const std::string& key, int32_t& field, int64_t vocabulary, int32_t fallback) {
  const auto read = [&](const JsonObject& json) {
    const std::vector<int64_t> ids = read_token_ids(json, key, vocabulary, fallback);
    field = ids.empty() ? -1 : static_cast<int32_t>(ids[0]);
  };
  const auto write = [&](nlohmann::ordered_json& json) {
    json[key] = field < 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(field);
  };
  custom({key}, read, write);
}

void ConfigFields::custom(const std::vector<std::string>& keys,
                          const std::function<void(const JsonObject&)>& read,
                          const std::function<void(nlohmann::ordered_json&)>& write) {
  for (const std::string& key : keys) add_key(key);
  if (source_ != nullptr) read(*source_);
  if (target_ != nullptr) write(*target_);
}

void ConfigFields::derive(const std::function<void(const JsonObject&)>& derivation) {
  if (source_ != nullptr) derivation(*source_);
}

void ConfigFields::constant(const std::string& key, bool value) {
  neutral(key, {value});
  if (target_ != nullptr) (*target_)[key] = value;
}

void ConfigFields::read_elsewhere(const std::vector<std::string>& keys) {
  for (const std::string& key : keys) add_key(key);
}

void ConfigFields::ignore(const std::vector<std::string>& keys) {
  keys_.ignored.insert(keys_.ignored.end(), keys.begin(), keys.end());
}

void ConfigFields::neutral(const std::string& key, std::vector<nlohmann::json> values) {
  keys_.neutral.push_back({key, std::move(values)});
}

void ConfigFields::put(const std::string& key, const std::string& value) {
  (*target_)[key] = value;
}

}  // namespace heed::models
