#include "base/text/json_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files/file.h"
#include "base/files/input_file.h"
#include "base/text/nearest_word.h"

namespace heed {
namespace {

using Json = nlohmann::json;

/// A value for a message: scalars verbatim, lists and objects by type.
std::string found(const Json* value) {
  if (value == nullptr || value->is_null()) return "is missing";
  if (value->is_array()) return fmt::format("is a list of {}", value->size());
  if (value->is_object()) return "is an object";
  return fmt::format("is {}", shown(value->dump(-1, ' ', false, Json::error_handler_t::replace)));
}

/// The number if the value is an integer in the range.
std::optional<int64_t> as_integer(const Json& value, IntegerRange range) {
  if (!value.is_number_integer()) return {};
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t{INT64_MAX}) return {};
  const auto number = value.get<int64_t>();
  if (number < range.minimum || number > range.maximum) return {};
  return number;
}

std::string described(IntegerRange range) {
  const bool below = range.minimum > INT64_MIN, above = range.maximum < INT64_MAX;
  if (below && above) return fmt::format("integer from {} to {}", range.minimum, range.maximum);
  if (below) return fmt::format("integer of at least {}", range.minimum);
  if (above) return fmt::format("integer of at most {}", range.maximum);
  return "integer";
}

std::string described(NumberRange range) {
  const bool below = range.minimum > std::numeric_limits<double>::lowest();
  const bool above = range.maximum < std::numeric_limits<double>::max();
  if (below && above) return fmt::format("a number from {} to {}", range.minimum, range.maximum);
  if (below) return fmt::format("a number of at least {}", range.minimum);
  if (above) return fmt::format("a number of at most {}", range.maximum);
  return "a number";
}

template <typename AnyJson>
void check_finite(const AnyJson& value, const std::string& path) {
  if (value.is_number_float() && !std::isfinite(value.template get<double>())) {
    fail(ErrorKind::kNumeric, "cannot write '{}': JSON cannot represent {}", path,
         value.template get<double>());
  }
  if (value.is_structured()) {
    for (const AnyJson& element : value) check_finite(element, path);
  }
}

template <typename AnyJson>
void write_any_json(const std::string& path, const AnyJson& value) {
  check_finite(value, path);
  std::string text;
  try {
    text = value.dump(2);
  } catch (const Json::exception&) {
    fail(ErrorKind::kText, "cannot write '{}': it contains a string that is not valid UTF-8", path);
  }
  write_file(path, text + "\n");
}

}  // namespace

JsonObject JsonObject::read(const std::string& path, const JsonLimits& limits) {
  const InputFile file(path);
  if (file.size() > limits.bytes) {
    fail(ErrorKind::kFormat, "'{}' has {} bytes; the maximum for JSON files is {}", path, file.size(),
         limits.bytes);
  }
  std::string text(file.size(), '\0');
  file.read_at(0, text.data(), text.size());
  return parse(text, path, limits);
}

JsonObject JsonObject::parse(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  auto value = std::make_shared<const Json>(parse_json(text, origin, limits));
  if (!value->is_object())
    fail(ErrorKind::kFormat, "{}: the file {}, expected an object", origin, found(value.get()));
  return JsonObject(std::move(value), std::make_shared<const std::string>(origin), "");
}

JsonObject::JsonObject(std::shared_ptr<const Json> value, std::shared_ptr<const std::string> origin,
                       std::string prefix)
    : value_(std::move(value)), origin_(std::move(origin)), prefix_(std::move(prefix)) {}

std::vector<std::string> JsonObject::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, value] : value_->items()) result.push_back(key);
  return result;
}

int64_t JsonObject::integer(const std::string& key, IntegerRange range,
                            std::optional<int64_t> fallback) const {
  if (fallback.has_value() && !has(key)) return *fallback;
  const std::string needed = fmt::format("an {}", described(range));
  const auto number = as_integer(require(key, needed), range);
  if (!number) reject(key, needed);
  return *number;
}

double JsonObject::number(const std::string& key, NumberRange range, std::optional<double> fallback) const {
  if (fallback.has_value() && !has(key)) return *fallback;
  const std::string needed = described(range);
  const Json& value = require(key, needed);
  if (!value.is_number()) reject(key, needed);
  const auto number = value.get<double>();
  if (!(number >= range.minimum && number <= range.maximum)) reject(key, needed);
  return number;
}

bool JsonObject::boolean(const std::string& key, std::optional<bool> fallback) const {
  if (fallback.has_value() && !has(key)) return *fallback;
  const Json& value = require(key, "true or false");
  if (!value.is_boolean()) reject(key, "true or false");
  return value.get<bool>();
}

std::string JsonObject::string(const std::string& key, std::optional<std::string> fallback) const {
  if (fallback.has_value() && !has(key)) return *std::move(fallback);
  const Json& value = require(key, "a string");
  if (!value.is_string()) reject(key, "a string");
  return value.get<std::string>();
}

std::vector<int64_t> JsonObject::integers(const std::string& key, IntegerRange range,
                                          std::optional<std::vector<int64_t>> fallback) const {
  if (fallback.has_value() && !has(key)) return *std::move(fallback);
  const std::string kind = described(range);
  const std::string needed = fmt::format("an {0}, or a list of them", kind);
  const Json& value = require(key, needed);
  if (!value.is_array()) {
    const auto number = as_integer(value, range);
    if (!number) reject(key, needed);
    return {*number};
  }
  std::vector<int64_t> numbers;
  for (const Json& element : value) {
    const auto number = as_integer(element, range);
    if (!number) {
      fail(ErrorKind::kFormat, "{}: element {} of {} {}, expected an {}", origin(), numbers.size(),
           name_of_key(key), found(&element), kind);
    }
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::string> JsonObject::strings(const std::string& key,
                                             std::optional<std::vector<std::string>> fallback) const {
  if (fallback.has_value() && !has(key)) return *std::move(fallback);
  const Json& value = require(key, "a list of strings");
  if (value.is_string()) return {value.get<std::string>()};
  if (!value.is_array()) reject(key, "a list of strings");
  std::vector<std::string> texts;
  for (const Json& element : value) {
    if (!element.is_string()) {
      fail(ErrorKind::kFormat, "{}: element {} of {} {}, expected a string", origin(), texts.size(),
           name_of_key(key), found(&element));
    }
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

JsonObject JsonObject::object(const std::string& key) const {
  const Json& value = require(key, "an object");
  if (!value.is_object()) reject(key, "an object");
  return inside(value, key);
}

std::vector<JsonObject> JsonObject::objects(const std::string& key) const {
  const Json& value = require(key, "a list of objects");
  if (!value.is_array()) reject(key, "a list of objects");
  std::vector<JsonObject> result;
  for (const Json& element : value) {
    const std::string name = fmt::format("{}[{}]", key, result.size());
    if (!element.is_object()) {
      fail(ErrorKind::kFormat, "{}: {} {}, expected an object", origin(), name_of_key(name), found(&element));
    }
    result.push_back(inside(element, name));
  }
  return result;
}

void JsonObject::reject(const std::string& key, const std::string& needed) const {
  fail(ErrorKind::kFormat, "{}: {} {}, expected {}", origin(), name_of_key(key), found(find(key)), needed);
}

const Json* JsonObject::find(const std::string& key) const {
  const auto member = value_->find(key);
  return member == value_->end() || member->is_null() ? nullptr : &*member;
}

const Json& JsonObject::require(const std::string& key, const std::string& needed) const {
  const Json* value = find(key);
  if (value == nullptr)
    fail(ErrorKind::kFormat, "{}: {} is missing, expected {}", origin(), name_of_key(key), needed);
  return *value;
}

JsonObject JsonObject::inside(const Json& value, const std::string& key) const {
  // Points to the nested value and keeps the document alive.
  return JsonObject(std::shared_ptr<const Json>(value_, &value), origin_, prefix_ + key + ".");
}

size_t JsonObject::word_index(const std::string& key, const std::vector<std::string>& allowed) const {
  std::string needed = allowed.size() > 1 ? "one of" : "the word";
  for (size_t at = 0; at < allowed.size(); ++at)
    needed += fmt::format("{}\"{}\"", at > 0 ? ", " : " ", allowed[at]);
  const Json& value = require(key, needed);
  if (!value.is_string()) reject(key, needed);
  const auto word = value.get<std::string>();
  for (size_t at = 0; at < allowed.size(); ++at) {
    if (word == allowed[at]) return at;
  }
  fail(ErrorKind::kFormat, "{}: {} {}, expected {}{}", origin(), name_of_key(key), found(&value), needed,
       did_you_mean(word, allowed));
}

std::string JsonObject::name_of_key(const std::string& key) const {
  return fmt::format("'{}'", shown(prefix_ + key));
}

void write_json(const std::string& path, const nlohmann::json& value) {
  write_any_json(path, value);
}
void write_json(const std::string& path, const nlohmann::ordered_json& value) {
  write_any_json(path, value);
}

}  // namespace heed
