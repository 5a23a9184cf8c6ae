#include "base/text/known_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/text/nearest_word.h"

namespace heed {
namespace {

using Json = nlohmann::json;

bool holds(const std::vector<std::string>& keys, const std::string& key) {
  return std::ranges::find(keys, key) != keys.end();
}

/// Whether an unknown key can be ignored with this value.
bool is_empty_value(const Json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get<std::string>().empty();
  return value.is_structured() && value.empty();
}

std::string listed(const std::vector<Json>& values) {
  std::string text;
  for (const Json& value : values) text += (text.empty() ? "" : " or ") + value.dump();
  return text;
}

}  // namespace

NeutralKey::NeutralKey(std::string name, std::vector<Json> neutral_values)
    : key(std::move(name)), values(std::move(neutral_values)) {}
NeutralKey::NeutralKey(const NeutralKey&) = default;
NeutralKey::NeutralKey(NeutralKey&&) noexcept = default;
NeutralKey& NeutralKey::operator=(const NeutralKey&) = default;
NeutralKey& NeutralKey::operator=(NeutralKey&&) noexcept = default;
NeutralKey::~NeutralKey() = default;

std::vector<std::string> all_names(const KnownKeys& keys) {
  std::vector<std::string> names = keys.read;
  names.insert(names.end(), keys.ignored.begin(), keys.ignored.end());
  for (const NeutralKey& each : keys.neutral) names.push_back(each.key);
  return names;
}

void require_known_keys(const JsonObject& json, const KnownKeys& keys) {
  for (const auto& [key, value] : json.json().items()) {
    if (value.is_null() || key.starts_with('_') || holds(keys.read, key) || holds(keys.ignored, key))
      continue;
    const auto neutral = std::ranges::find(keys.neutral, key, &NeutralKey::key);
    if (neutral != keys.neutral.end()) {
      if (std::find(neutral->values.begin(), neutral->values.end(), value) != neutral->values.end()) continue;
      const std::string wanted = listed(neutral->values);
      json.reject(key,
                  fmt::format("{} (the only value that Heed supports)", wanted.empty() ? "null" : wanted));
    }
    if (is_empty_value(value)) continue;
    fail(ErrorKind::kFormat,
         "{}: '{}' is {}, but Heed does not know this key, and it may affect results: remove it from the "
         "file if it does not{}",
         json.origin(), shown(key), shown(value.dump(-1, ' ', false, Json::error_handler_t::replace)),
         did_you_mean(key, all_names(keys)));
  }
}

}  // namespace heed
