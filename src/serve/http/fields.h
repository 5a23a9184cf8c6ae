// The fields of a request: members of a JSON object, or of a form or query string, whose values are texts.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "serve/http/http_message.h"

namespace heed::serve {

/// The Content-Type of a request in lower case, without parameters; empty if there is none.
std::string media_type_of(const HttpRequest& request);

/// Every function that reads a field throws a RequestError (400) that names it if its value is of another
/// type or out of range. Null counts as missing.
class Fields {
 public:
  /// Parses the body according to its Content-Type: JSON, a URL-encoded form or a multipart form. A body
  /// that begins like a JSON object is parsed as JSON whatever its type (curl -d); without a body, parses
  /// the query string. Throws RequestError: 400 for malformed, too deeply nested or invalid UTF-8 text, 415
  /// for other types.
  Fields(const HttpRequest& request, int json_depth);
  ~Fields();
  Fields(Fields&&) noexcept;

  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::optional<std::string> text(const std::string& name) const;
  std::string text_or(const std::string& name, const std::string& otherwise) const;
  /// A text, or an integer as its digits.
  std::optional<std::string> text_or_integer(const std::string& name) const;
  /// A text or a list of texts.
  struct Texts {
    std::vector<std::string> texts;
    bool is_list = false;
  };
  std::optional<Texts> texts(const std::string& name) const;
  std::optional<int64_t> integer(const std::string& name, int64_t least, int64_t most) const;
  /// The same, and in JSON, too, a text that spells an integer counts as it: "3".
  std::optional<int64_t> spelled_integer(const std::string& name, int64_t least, int64_t most) const;
  /// A number from `least` to `most`; must exceed `least` if `above`.
  std::optional<double> number(const std::string& name, double least, double most, bool above = false) const;
  bool flag(const std::string& name) const;
  /// One of `choices`; the first if missing.
  std::string choice(const std::string& name, const std::vector<std::string>& choices) const;
  /// The raw value; null if missing.
  const nlohmann::json* find(const std::string& name) const;

  /// Throws a RequestError for fields with other names.
  void require_known(const std::vector<std::string>& names) const;

 private:
  std::optional<int64_t> integer(const std::string& name, int64_t least, int64_t most, bool spelled) const;

  std::unique_ptr<nlohmann::json> object_;
  bool form_ = false;  // values are texts
};

}  // namespace heed::serve
