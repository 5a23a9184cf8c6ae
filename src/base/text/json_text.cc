#include "base/text/json_text.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/check.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

/// Adds a member to an object; returns null if the key exists.
Json* add_member(Json& object, std::set<std::string>&, const std::string& key) {
  const auto [member, is_new] = object.get_ref<Json::object_t&>().emplace(key, nullptr);
  return is_new ? &member->second : nullptr;
}

/// Ordered objects are lists, where key lookups would take quadratic time in total; the set makes them fast.
OrderedJson* add_member(OrderedJson& object, std::set<std::string>& keys, const std::string& key) {
  if (!keys.insert(key).second) return nullptr;
  return &object.get_ref<OrderedJson::object_t&>().emplace_back(key, nullptr).second;
}

/// Builds the value from SAX events. The library's own builder silently keeps the last of duplicate keys and
/// has no depth limit.
template <typename Json>
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& origin, const JsonLimits& limits)
      : text_(text), origin_(origin), limits_(limits) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(int64_t value) override { return add(value); }
  bool number_unsigned(uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(typename Json::binary_t&) override { return false; }  // never sent for text
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    member_ = add_member(*open_.back(), keys_.back(), name);
    if (member_ == nullptr)
      fail(ErrorKind::kFormat, "{}: the key '{}' appears twice in the same object", origin_, shown(name));
    if (open_.size() == 1) in_limited_list_ = !limits_.list.empty() && name == limits_.list;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    fail(ErrorKind::kFormat, "{} is not valid JSON: {}", origin_,
         internal::describe_json_error(text_, position, error.what()));
  }

 private:
  /// Inserts a value at the current position and remembers it.
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      last_ = &root_;
    } else if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      if (in_limited_list_ && open_.size() == 2 && open_.back()->size() > limits_.list_elements) {
        fail(ErrorKind::kFormat, "{}: '{}' has more than {} elements, which are not supported", origin_,
             limits_.list, limits_.list_elements);
      }
      last_ = &open_.back()->back();
    } else {
      *member_ = std::move(value);
      last_ = member_;
    }
    return true;
  }

  bool open(Json value) {
    if (static_cast<int>(open_.size()) >= limits_.depth) {
      fail(ErrorKind::kFormat, "{}: arrays and objects are nested more than {} deep", origin_, limits_.depth);
    }
    add(std::move(value));
    open_.push_back(last_);
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& origin_;
  JsonLimits limits_;
  Json root_;
  std::vector<Json*> open_;  // open arrays and objects; a container does not move while it is open
  std::vector<std::set<std::string>> keys_;  // keys of each open object, for ordered objects only
  Json* member_ = nullptr;                   // slot for the value of the last key
  Json* last_ = nullptr;                     // the last inserted value
  bool in_limited_list_ = false;
};

template <typename Json>
Json parse(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    fail(ErrorKind::kFormat, "{} has {} bytes of JSON; the maximum is {}", origin, text.size(), limits.bytes);
  }
  Builder<Json> builder(text, origin, limits);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  return parse<Json>(text, origin, limits);
}

OrderedJson parse_ordered_json(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  return parse<OrderedJson>(text, origin, limits);
}

namespace internal {

std::string describe_json_error(std::string_view text, size_t position, std::string_view what) {
  // The parser counts from 1 and points after the offending byte.
  const std::string_view before = text.substr(0, std::min(position > 0 ? position - 1 : 0, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t last_newline = before.rfind('\n');
  const size_t column = before.size() - (last_newline == std::string_view::npos ? 0 : last_newline + 1) + 1;
  // Its message has the form "[...] parse error at line 1, column 2: what is wrong; last read: 'text'".
  if (const size_t name = what.find("] "); name != std::string_view::npos) what.remove_prefix(name + 2);
  if (what.starts_with("parse error")) {
    if (const size_t colon = what.find(": "); colon != std::string_view::npos) what.remove_prefix(colon + 2);
  }
  if (const size_t read = what.find("; last read: "); read != std::string_view::npos)
    what = what.substr(0, read);
  return fmt::format("line {}, column {}: {}", line, column, shown(what, 200));
}

}  // namespace internal
}  // namespace heed
