#include "serve/http/fields.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json_text.h"
#include "base/text/nearest_word.h"
#include "serve/http/request_error.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::serve {
namespace {

using Json = nlohmann::json;

/// Values of a request beyond this are refused: each takes up to 64 bytes for two of the text.
constexpr size_t kMaxValues = 1 << 14;

void require_few_values(size_t values) {
  if (values > kMaxValues) refuse(400, "the request has more than {} values", kMaxValues);
}

/// Adds the fields of forms to an object; repeated fields make a list.
class FormReader {
 public:
  explicit FormReader(Json& object) : object_(object) {}
  void add_form(std::string_view form);
  void add_multipart(std::string_view body, std::string_view type);

 private:
  void add(std::string name, std::string value);

  Json& object_;
  size_t values_ = 0;
};

void FormReader::add(std::string name, std::string value) {
  require_few_values(++values_);
  if (find_invalid_utf8(name) || find_invalid_utf8(value)) {
    refuse(400, "the field '{}' is not valid UTF-8", shown(name));
  }
  const auto found = object_.find(name);
  if (found == object_.end()) {
    object_[std::move(name)] = std::move(value);
  } else if (found->is_array()) {
    found->push_back(std::move(value));
  } else {
    Json list = Json::array({std::move(*found), std::move(value)});
    *found = std::move(list);
  }
}

void FormReader::add_form(std::string_view form) {
  while (!form.empty()) {
    const std::string_view field = form.substr(0, form.find('&'));
    form.remove_prefix(std::min(form.size(), field.size() + 1));
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    add(percent_decode(field.substr(0, equals), true),
        equals == std::string_view::npos ? "" : percent_decode(field.substr(equals + 1), true));
  }
}

/// The parameter of a header: parameter_of("form-data; name=\"q\"", "name") is "q".
std::string parameter_of(std::string_view header, std::string_view name) {
  for (size_t at = header.find(';'); at != std::string_view::npos;) {
    ++at;
    while (at < header.size() && header[at] == ' ') ++at;
    const size_t equals = header.find('=', at);
    if (equals == std::string_view::npos) return "";
    const std::string_view found = header.substr(at, equals - at);
    std::string value;
    size_t end = equals + 1;
    if (end < header.size() && header[end] == '"') {
      for (++end; end < header.size() && header[end] != '"'; ++end) {
        if (header[end] == '\\' && end + 1 < header.size()) ++end;
        value += header[end];
      }
    } else {
      while (end < header.size() && header[end] != ';') value += header[end++];
    }
    if (found == name) return value;
    at = header.find(';', end);
  }
  return "";
}

/// RFC 7578; files are read like fields.
void FormReader::add_multipart(std::string_view body, std::string_view type) {
  const std::string boundary = "--" + parameter_of(type, "boundary");
  if (boundary.size() == 2) refuse(400, "the multipart form names no boundary in its Content-Type");
  size_t at = body.find(boundary);
  while (at != std::string_view::npos) {
    at += boundary.size();
    if (body.substr(at, 2) == "--") return;
    const size_t head_end = body.find("\r\n\r\n", at);
    const size_t end = head_end == std::string_view::npos ? head_end : body.find("\r\n" + boundary, head_end);
    if (end == std::string_view::npos) break;
    std::string_view head = body.substr(at, head_end - at);
    std::string name;
    while (!head.empty()) {
      const std::string_view line = head.substr(0, head.find("\r\n"));
      head.remove_prefix(std::min(head.size(), line.size() + 2));
      if (ascii_lower(line.substr(0, 20)) == "content-disposition:") name = parameter_of(line, "name");
    }
    if (name.empty()) refuse(400, "a part of the multipart form has no name");
    add(name, std::string(body.substr(head_end + 4, end - head_end - 4)));
    at = end + 2;
  }
  refuse(400, "the multipart form is cut off: a part has no end");
}

/// At least as many as JSON has values: what begins or separates them, outside strings.
size_t json_values(std::string_view json) {
  size_t values = 0;
  bool in_string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\') ++at;
    if (!in_string && (c == ',' || c == '[' || c == '{' || c == ':')) ++values;
  }
  return values;
}

/// A text, as the command reads it: without NUL.
std::string text_of(const std::string& name, const Json& value) {
  auto text = value.get<std::string>();
  if (text.find('\0') != std::string::npos) refuse(400, "'{}' has a NUL character", name);
  return text;
}

std::string type_name(const Json& value) {
  return value.is_number() ? "a number"
         : value.is_boolean()
             ? "true or false"
             : fmt::format("a{} {}", value.is_object() || value.is_array() ? "n" : "", value.type_name());
}

}  // namespace

std::string media_type_of(const HttpRequest& request) {
  const std::string_view header = request.header("content-type");
  std::string type = ascii_lower(header.substr(0, header.find(';')));
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

Fields::Fields(const HttpRequest& request, int json_depth) : object_(std::make_unique<Json>(Json::object())) {
  const std::string_view type_header = request.header("content-type");
  const std::string type = media_type_of(request);
  if (const std::string_view coding = request.header("content-encoding");
      !coding.empty() && coding != "identity") {
    refuse(415, "the body is encoded as '{}', and this server reads plain bodies", shown(coding));
  }
  const size_t first = request.body.find_first_not_of(" \t\r\n");
  const bool like_object = first != std::string::npos && request.body[first] == '{';
  // Some clients give the type of a body in every request, also in those that have none.
  const bool no_body = first == std::string::npos && (request.method == "GET" || request.method == "HEAD");
  if (((type == "application/json" || type.ends_with("+json")) && !no_body) || like_object) {
    require_few_values(json_values(request.body));
    try {
      *object_ = parse_json(request.body, "the request", {.bytes = size_t{1} << 30, .depth = json_depth});
    } catch (const Error& error) {
      refuse(400, "{}", error.what());
    }
    if (!object_->is_object()) refuse(400, "the request must be a JSON object");
    return;
  }
  form_ = true;
  FormReader form(*object_);
  form.add_form(request.query);
  if (first == std::string::npos) return;
  if (type == "application/x-www-form-urlencoded") {
    form.add_form(request.body);
  } else if (type == "multipart/form-data") {
    form.add_multipart(request.body, type_header);
  } else {
    refuse(415, "the body is of the type '{}': send application/json or a form", shown(type));
  }
}

Fields::~Fields() = default;
Fields::Fields(Fields&&) noexcept = default;

const Json* Fields::find(const std::string& name) const {
  const auto found = object_->find(name);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> Fields::text(const std::string& name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(400, "'{}' must be a text, not {}", name, type_name(*value));
  return text_of(name, *value);
}

std::string Fields::text_or(const std::string& name, const std::string& otherwise) const {
  return text(name).value_or(otherwise);
}

std::optional<std::string> Fields::text_or_integer(const std::string& name) const {
  const Json* value = find(name);
  if (value == nullptr || value->is_string()) return text(name);
  if (value->is_number_integer()) return value->dump();
  refuse(400, "'{}' must be a text or an integer, not {}", name, type_name(*value));
}

std::optional<Fields::Texts> Fields::texts(const std::string& name) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return Texts{{text_of(name, *value)}, false};
  if (!value->is_array()) {
    refuse(400, "'{}' must be a text or a list of texts, not {}", name, type_name(*value));
  }
  Texts result{{}, true};
  for (const Json& each : *value) {
    if (!each.is_string()) refuse(400, "'{}' must hold texts only, and it holds {}", name, type_name(each));
    result.texts.push_back(text_of(name, each));
  }
  return result;
}

std::optional<int64_t> Fields::integer(const std::string& name, int64_t least, int64_t most) const {
  return integer(name, least, most, form_);
}

std::optional<int64_t> Fields::spelled_integer(const std::string& name, int64_t least, int64_t most) const {
  return integer(name, least, most, true);
}

std::optional<int64_t> Fields::integer(const std::string& name, int64_t least, int64_t most,
                                       bool spelled) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  std::optional<int64_t> number;
  if (value->is_number_unsigned() && value->get<uint64_t>() <= INT64_MAX) {
    number = value->get<int64_t>();
  } else if (value->is_number_integer() && !value->is_number_unsigned()) {
    number = value->get<int64_t>();
  } else if (value->is_number_float() && std::trunc(value->get<double>()) == value->get<double>() &&
             std::abs(value->get<double>()) < 9e15) {
    number = static_cast<int64_t>(value->get<double>());
  } else if (spelled && value->is_string()) {
    const std::string_view text = strip(value->get_ref<const std::string&>());
    if (text.empty() && form_) return {};
    int64_t read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error == std::errc() && end == text.data() + text.size()) number = read;
  }
  if (number && *number >= least && *number <= most) return number;
  refuse(400, "'{}' must be an integer from {} to {}", name, least, most);
}

std::optional<double> Fields::number(const std::string& name, double least, double most, bool above) const {
  const Json* value = find(name);
  if (value == nullptr) return {};
  std::optional<double> number;
  if (value->is_number()) {
    number = value->get<double>();
  } else if (form_ && value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    if (text.empty()) return {};
    double read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error == std::errc() && end == text.data() + text.size()) number = read;
  }
  if (number && std::isfinite(*number) && (above ? *number > least : *number >= least) && *number <= most) {
    return number;
  }
  refuse(400, "'{}' must be a number {} {} and at most {}", name, above ? "above" : "of at least", least,
         most);
}

bool Fields::flag(const std::string& name) const {
  const Json* value = find(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (form_ && value->is_string()) {
    const std::string text = ascii_lower(value->get<std::string>());
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0" || text.empty()) return false;
  }
  refuse(400, "'{}' must be true or false", name);
}

std::string Fields::choice(const std::string& name, const std::vector<std::string>& choices) const {
  const std::optional<std::string> value = text(name);
  if (!value || value->empty()) return choices.front();
  if (std::ranges::count(choices, *value) == 0) {
    refuse(400, "'{}' must be one of {}, not '{}'", name, fmt::join(choices, ", "), shown(*value));
  }
  return *value;
}

void Fields::require_known(const std::vector<std::string>& names) const {
  for (const auto& [name, value] : object_->items()) {
    if (std::ranges::count(names, name) > 0) continue;
    refuse(400, "there is no field '{}' here; there are {}{}", shown(name), fmt::join(names, ", "),
           did_you_mean(name, names));
  }
}

}  // namespace heed::serve
