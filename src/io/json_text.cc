#include "io/json_text.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/check.h"

namespace heed {
namespace {

using Json = nlohmann::json;

/// Builds the value from the parser's events. The library's own builder keeps the last of repeated keys and
/// knows no depth limit.
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
  bool binary(Json::binary_t&) override { return false; }  // never sent for text
  bool start_object(size_t) override { return open(Json::object()); }
  bool start_array(size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    const auto [member, is_new] = open_.back()->get_ref<Json::object_t&>().emplace(name, nullptr);
    if (!is_new)
      fail(ErrorKind::kFormat, "{}: the key '{}' appears twice in the same object", origin_, shown(name));
    member_ = &member->second;
    return true;
  }

  bool parse_error(size_t position, const std::string&, const Json::exception& error) override {
    fail(ErrorKind::kFormat, "{} is not valid JSON: {}", origin_,
         internal::describe_json_error(text_, position, error.what()));
  }

 private:
  /// Puts a value where the next one belongs, and remembers its place.
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      place_ = &root_;
    } else if (open_.back()->is_array()) {
      open_.back()->push_back(std::move(value));
      place_ = &open_.back()->back();
    } else {
      *member_ = std::move(value);
      place_ = member_;
    }
    return true;
  }

  bool open(Json value) {
    if (static_cast<int>(open_.size()) >= limits_.depth) {
      fail(ErrorKind::kFormat, "{}: arrays and objects stand inside each other more than {} deep", origin_,
           limits_.depth);
    }
    add(std::move(value));
    open_.push_back(place_);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const std::string& origin_;
  JsonLimits limits_;
  Json root_;
  std::vector<Json*>
      open_;                // the arrays and objects not yet ended; a container does not move while inside it
  Json* member_ = nullptr;  // where the value of the last key belongs
  Json* place_ = nullptr;   // the value put last
};

/// The length of the valid UTF-8 sequence at the start of `text`, 0 where there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80   ? 1
                        : first < 0xC2 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF5 ? 4
                                       : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t at = 1; at < length; ++at) {
    if ((byte(at) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and numbers beyond U+10FFFF show in the second byte.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F)) return 0;
  if ((first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

}  // namespace

Json parse_json(std::string_view text, const std::string& origin, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    fail(ErrorKind::kFormat, "{} has {} bytes of JSON; at most {} are read", origin, text.size(),
         limits.bytes);
  }
  Builder builder(text, origin, limits);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

std::string shown(std::string_view text, size_t longest) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (result.size() >= longest) return result + "...";
    const size_t length = utf8_length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      result += fmt::format("\\x{:02x}", byte);
      ++at;
    } else {
      result += text.substr(at, length);
      at += length;
    }
  }
  return result;
}

namespace internal {

std::string describe_json_error(std::string_view text, size_t position, std::string_view what) {
  // The parser counts from 1 and points behind the byte that it does not like.
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
