#include "base/text/flat_yaml.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text/printable.h"
#include "base/text/utf8_length.h"

namespace heed {
namespace {

/// The UTF-8 of a code point.
std::string utf8_of(uint32_t code) {
  std::string text;
  const auto add = [&](uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
    add(0x80 | (code & 0x3F));
  }
  return text;
}

std::string_view strip(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

/// Reads scalars from the beginning of a line.
class LineParser {
 public:
  LineParser(std::string_view line, const std::string& origin, size_t number)
      : rest_(line), origin_(origin), number_(number) {}

  std::string_view rest() const { return rest_; }
  [[noreturn]] void refuse(const std::string& why) const {
    fail(ErrorKind::kFormat, "{}, line {}: {}", origin_, number_, why);
  }
  bool is_quoted() const { return rest_.starts_with('"') || rest_.starts_with('\''); }
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  /// A scalar in quotation marks.
  std::string quoted() {
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    std::string content;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == quote) {
        if (quote == '"' || !rest_.starts_with('\'')) return content;
        rest_.remove_prefix(1);  // '' is one
      }
      if (c == '\\' && quote == '"') {
        content += escape();
      } else {
        content.push_back(c);
      }
    }
    refuse("a quotation mark is missing");
  }

  /// A plain scalar, up to one of `ends` or the end of the line.
  std::string plain(std::string_view ends) {
    const size_t end = std::min(rest_.find_first_of(ends), rest_.size());
    std::string content(strip(rest_.substr(0, end)));
    rest_.remove_prefix(end);
    return content;
  }

  /// What remains must be white space or a comment.
  void require_end() {
    const bool spaced = rest_.empty() || rest_.front() == ' ' || rest_.front() == '\t';
    skip_space();
    if (!rest_.empty() && !(spaced && rest_.front() == '#'))
      refuse(fmt::format("'{}' was not expected", shown(rest_)));
  }

  /// A scalar up to the end of the line.
  std::string last_scalar() {
    skip_space();
    std::string value;
    if (is_quoted()) {
      value = quoted();
    } else {
      if (rest_.starts_with('{') || rest_.starts_with('|') || rest_.starts_with('>') ||
          rest_.starts_with('&') || rest_.starts_with('*') || rest_.starts_with('!')) {
        refuse(fmt::format("'{}' is not a plain value", shown(rest_)));
      }
      const size_t comment = rest_.find(" #");
      value = std::string(strip(rest_.substr(0, comment)));
      rest_ = {};
    }
    require_end();
    return value;
  }

 private:
  std::string escape() {
    if (rest_.empty()) refuse("an escape is incomplete");
    const char kind = rest_.front();
    rest_.remove_prefix(1);
    static const std::map<char, std::string> kSimple{{'0', std::string(1, '\0')},
                                                     {'a', "\a"},
                                                     {'b', "\b"},
                                                     {'t', "\t"},
                                                     {'n', "\n"},
                                                     {'v', "\v"},
                                                     {'f', "\f"},
                                                     {'r', "\r"},
                                                     {'e', "\x1b"},
                                                     {' ', " "},
                                                     {'"', "\""},
                                                     {'/', "/"},
                                                     {'\\', "\\"},
                                                     {'N', "\u0085"},
                                                     {'_', "\u00a0"},
                                                     {'L', "\u2028"},
                                                     {'P', "\u2029"},
                                                     {'\'', "'"}};
    if (const auto found = kSimple.find(kind); found != kSimple.end()) return found->second;
    const size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    uint32_t code = 0;
    if (digits == 0 || rest_.size() < digits)
      refuse(fmt::format("'\\{}' is not an escape", shown(std::string_view(&kind, 1))));
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + digits, code, 16);
    if (error != std::errc() || end != rest_.data() + digits || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000)) {
      refuse(fmt::format("'\\{}{}' is not a character", kind, shown(rest_.substr(0, digits))));
    }
    rest_.remove_prefix(digits);
    return utf8_of(code);
  }

  std::string_view rest_;
  const std::string& origin_;
  size_t number_;
};

/// Calls visit(line, number) for each line that has content, without its end.
template <typename Visit>
void for_each_line(std::string_view text, const std::string& origin, const Visit& visit) {
  if (!is_utf8(text)) fail(ErrorKind::kFormat, "{} is not valid UTF-8", origin);
  size_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = strip(line);
    if (content.empty() || content.starts_with('#') || line == "---" || line == "...") continue;
    visit(line, number);
  }
}

std::vector<std::string> flow_list(LineParser& line) {
  std::vector<std::string> values;
  line.skip_space();
  while (!line.take("]")) {
    if (line.rest().empty()) line.refuse("a ']' is missing");
    values.push_back(line.is_quoted() ? line.quoted() : line.plain(",]"));
    line.skip_space();
    if (!line.take(",") && !line.rest().starts_with(']'))
      line.refuse(line.rest().empty() ? "a ']' is missing" : "a list is malformed");
    line.skip_space();
  }
  line.require_end();
  return values;
}

}  // namespace

FlatYaml parse_flat_yaml(std::string_view text, const std::string& origin) {
  FlatYaml result;
  std::vector<std::string>* open_list = nullptr;  // of a key without a value on its line
  for_each_line(text, origin, [&](std::string_view whole, size_t number) {
    LineParser line(whole, origin, number);
    line.skip_space();
    const bool indented = line.rest().size() < whole.size();
    if (line.take("- ") || line.rest() == "-") {
      if (open_list == nullptr) line.refuse("a list has no key");
      open_list->push_back(line.last_scalar());
      return;
    }
    if (open_list != nullptr && indented && line.take("[")) {  // as yaml-cpp writes an empty list
      *open_list = flow_list(line);
      open_list = nullptr;
      return;
    }
    if (indented) line.refuse("nested values are not supported");
    const std::string key = line.is_quoted() ? line.quoted() : line.plain(":");
    if (!line.take(":")) line.refuse("expected 'key: value'");
    const auto [entry, is_new] = result.try_emplace(key);
    if (!is_new) line.refuse(fmt::format("the key '{}' occurs twice", shown(key)));
    line.skip_space();
    open_list = nullptr;
    if (line.rest().empty() || line.rest().starts_with('#')) {
      open_list = &entry->second;
    } else if (line.take("[")) {
      entry->second = flow_list(line);
    } else {
      entry->second = {line.last_scalar()};
    }
  });
  return result;
}

std::vector<std::string> parse_yaml_vocabulary(std::string_view text, const std::string& origin) {
  std::map<int64_t, std::string> pieces;
  std::optional<std::string> complex_key;  // of a line "? piece"
  for_each_line(text, origin, [&](std::string_view whole, size_t number) {
    LineParser line(whole, origin, number);
    if (!complex_key && line.take("? ")) {
      line.skip_space();
      complex_key = line.is_quoted() ? line.quoted() : std::string(strip(line.rest()));
      return;
    }
    std::string piece;
    if (complex_key) {
      piece = *std::exchange(complex_key, std::nullopt);
    } else if (line.is_quoted()) {
      piece = line.quoted();
    } else {
      const size_t colon = whole.rfind(':');
      if (colon == std::string_view::npos) line.refuse("expected 'piece: id'");
      piece = std::string(strip(whole.substr(0, colon)));
      line.take(whole.substr(0, colon));
    }
    line.skip_space();
    if (!line.take(":")) line.refuse("expected 'piece: id'");
    const std::string value = line.last_scalar();
    int64_t id = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), id);
    if (error != std::errc() || end != value.data() + value.size() || id < 0)
      line.refuse(fmt::format("'{}' is not an id", shown(value)));
    if (!pieces.emplace(id, piece).second) line.refuse(fmt::format("the id {} occurs twice", id));
  });
  if (complex_key) fail(ErrorKind::kFormat, "{}: '{}' has no id", origin, shown(*complex_key));
  std::vector<std::string> result;
  for (auto& [id, piece] : pieces) {
    if (id != static_cast<int64_t>(result.size()))
      fail(ErrorKind::kFormat, "{}: the id {} is missing", origin, result.size());
    result.push_back(std::move(piece));
  }
  return result;
}

}  // namespace heed
