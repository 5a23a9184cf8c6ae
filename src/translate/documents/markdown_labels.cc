#include <algorithm>
#include <array>
#include <string>

#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document_labels.h"
#include "translate/documents/markdown_escape.h"
#include "translate/documents/markdown_link.h"
#include "translate/documents/markdown_text.h"

namespace heed::translate {
namespace {

/// The keys of the front matter whose values are texts for readers.
constexpr std::array<std::string_view, 3> kKeys{"title", "subtitle", "description"};

/// Characters that begin something else than a plain text in YAML.
constexpr std::string_view kIndicators = "|>&*!%@`[]{},?#-\"':";

/// What YAML reads as a truth value, as nothing or as a number.
constexpr std::array<std::string_view, 12> kNoTexts{"y",  "n",   "yes",  "no", "true", "false",
                                                    "on", "off", "null", "~",  ".inf", ".nan"};

/// Whether YAML reads a plain scalar as something else than a text: one of kNoTexts, a number, a date or a
/// time.
bool is_no_text(std::string_view text) {
  std::string lower = ascii_lower(text);
  lower.erase(0, lower.find_first_not_of("+-"));
  if (std::ranges::count(kNoTexts, lower) > 0) return true;
  const size_t digit = lower.starts_with('.') ? 1 : 0;
  if (digit >= lower.size() || !is_ascii_digit(lower[digit])) return false;
  const bool time = lower.find(' ') != std::string::npos;  // "2024-05-01 10:30:00 +02:00"
  return lower.find_first_not_of(time ? "0123456789tz+-.: " : "0123456789abcdefotxz+-.:_") ==
         std::string::npos;
}

/// A YAML scalar: as it is where that is safe, else within quotation marks.
std::string plain_scalar(std::string_view text) {
  const bool safe = !text.empty() && !is_no_text(text) &&
                    kIndicators.find(text[0]) == std::string_view::npos &&
                    text.find(": ") == std::string_view::npos && text.find(" #") == std::string_view::npos &&
                    !text.ends_with(':');
  if (safe) return std::string(text);
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// The text between the quotation marks of a scalar with a single one or a backslash in neither place.
bool is_simply_quoted(std::string_view value) {
  return value.size() > 2 && (value[0] == '"' || value[0] == '\'') && value.back() == value[0] &&
         value.find_first_of(value[0] == '"' ? "\"\\" : "'", 1) == value.size() - 1;
}

std::string quoted_scalar(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote) result += quote == '"' ? '\\' : '\'';
    if (c == '\\' && quote == '"') result += '\\';
    result += c;
  }
  return result + quote;
}

/// Whether a value goes on behind its line, in a line that is indented.
bool goes_on(std::string_view behind) {
  const size_t line = std::min(behind.find_first_not_of("\r\n"), behind.size());
  return behind.substr(line).starts_with(' ') || behind.substr(line).starts_with('\t');
}

/// Adds the texts of the front matter that are on one line.
void add_front_matter(std::string_view markdown, size_t end, std::vector<Label>& labels) {
  for (size_t at = 0; at < end;) {
    const size_t line_end = std::min(markdown.find('\n', at), end);
    const std::string_view line = markdown.substr(at, line_end - at);
    const size_t colon = line.find(": ");
    if (colon != std::string_view::npos &&
        std::find(kKeys.begin(), kKeys.end(), line.substr(0, colon)) != kKeys.end() &&
        !goes_on(markdown.substr(line_end, end - line_end))) {
      const std::string_view value = strip(line.substr(colon + 2));
      const auto begin = static_cast<size_t>(value.data() - markdown.data());
      if (is_simply_quoted(value)) {
        labels.push_back({begin, begin + value.size(), std::string(value.substr(1, value.size() - 2)),
                          [quote = value[0]](std::string_view text) { return quoted_scalar(text, quote); }});
      } else if (has_letter(value) && plain_scalar(value) == value) {
        labels.push_back({begin, begin + value.size(), std::string(value), plain_scalar});
      }
    }
    at = line_end + 1;
  }
}

/// Square brackets and HTML would end the description, and code may hide its end; a backslash might escape
/// what follows.
std::string escape_description(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::string_view("\\[]`").find(c) != std::string_view::npos) plain += '\\';
    plain += c;
  }
  return escape_markdown(plain);
}

/// Finds descriptions of images that are plain text on one line.
class ImageReader {
 public:
  ImageReader(std::string_view document, std::vector<Label>& labels)
      : document_(document), parsed_(document), labels_(labels) {}

  void read() {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS;
    parser.enter_block = [](MD_BLOCKTYPE, void*, void*) { return 0; };
    parser.leave_block = [](MD_BLOCKTYPE, void*, void*) { return 0; };
    parser.enter_span = [](MD_SPANTYPE type, void*, void* self) { return that(self).enter(type); };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* self) { return that(self).leave(type); };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* self) {
      return that(self).add(type, {text, size});
    };
    parsed_.parse(parser, this);
  }

 private:
  static ImageReader& that(void* self) { return *static_cast<ImageReader*>(self); }

  int enter(MD_SPANTYPE type) {
    plain_ = plain_ && image_ == 0;
    if (type != MD_SPAN_IMG) return 0;
    if (image_++ == 0) {
      plain_ = true;
      text_ = {};
    }
    return 0;
  }

  int leave(MD_SPANTYPE type) {
    if (type != MD_SPAN_IMG || --image_ > 0) return 0;
    if (!plain_ || !has_letter(text_)) return 0;
    const auto begin = static_cast<size_t>(text_.data() - document_.data());
    if (!labels_.empty() && begin < labels_.back().end) return 0;  // md4c reads "![l](![)]()" twice
    labels_.push_back(label_at(begin));
    return 0;
  }

  Label label_at(size_t begin) const {
    constexpr size_t kLongest =
        1000;  // bytes of what names a definition, or the label of a footnote behind it
    const size_t end = begin + text_.size(), behind = behind_link(document_.substr(0, end + kLongest), end);
    if (!names_its_text(document_.substr(end, behind - end))) {
      return {begin, end, std::string(text_), escape_description};
    }
    return {begin, behind, std::string(text_),
            [name = std::string(text_), close = document_.substr(end, behind - end)](std::string_view text) {
              const std::string description = escape_description(text);
              return description + (description == name ? std::string(close) : link_end(name));
            }};
  }

  int add(MD_TEXTTYPE type, std::string_view parsed) {
    if (image_ == 0) return 0;
    const std::string_view text = parsed_.source_of(parsed);
    plain_ = plain_ && text.data() != nullptr && type == MD_TEXT_NORMAL && text_.empty();
    text_ = text;
    return 0;
  }

  std::string_view document_, text_;
  MarkdownText parsed_;
  std::vector<Label>& labels_;
  int image_ = 0;  // the number of open images
  bool plain_ = false;
};

}  // namespace

size_t behind_front_matter(std::string_view markdown) {
  if (!markdown.starts_with("---\n") && !markdown.starts_with("---\r\n")) return 0;
  const size_t end = markdown.find("\n---", 3);
  if (end == std::string_view::npos) return 0;
  const size_t line = markdown.find('\n', end + 1);
  return line == std::string_view::npos ? markdown.size() : line + 1;
}

std::vector<Label> markdown_labels(std::string_view markdown) {
  std::vector<Label> labels;
  add_front_matter(markdown, behind_front_matter(markdown), labels);
  ImageReader(markdown, labels).read();
  return labels;
}

}  // namespace heed::translate
