#include "text/readers/vocabulary_json.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "text/unicode/utf8.h"

namespace heed {

void not_a_vocabulary(const std::string& name, std::string_view what) {
  fail(ErrorKind::kFormat, "{} is not a valid vocabulary (an object of pieces and ids): {}", name, what);
}

namespace {

using Entries = std::vector<std::pair<std::string, uint64_t>>;

/// Reads what vocabularies consist of, an object of strings and non-negative integers, several times as fast
/// as a general parser. All else, faults included, is left to VocabularyReader.
class PlainVocabularyReader {
 public:
  explicit PlainVocabularyReader(std::string_view json) : json_(json) {}

  /// Empty for all else.
  std::optional<Entries> read() {
    if (find_invalid_utf8(json_) || !take('{')) return std::nullopt;
    Entries entries;
    constexpr size_t kUsualLine = 24;  // bytes of an entry
    entries.reserve(json_.size() / kUsualLine);
    do {
      auto& [piece, id] = entries.emplace_back();
      if (!read_piece(piece) || !take(':') || !read_id(id)) return std::nullopt;
    } while (take(','));
    if (!take('}')) return std::nullopt;
    skip_space();
    return at_ == json_.size() ? std::optional(std::move(entries)) : std::nullopt;
  }

 private:
  /// The next byte; 0 at the end.
  char peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\r' || peek() == '\t') ++at_;
  }
  bool take(char c) {
    skip_space();
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  bool read_piece(std::string& piece) {
    if (!take('"')) return false;
    for (; peek() != '"'; ++at_) {
      if (static_cast<unsigned char>(peek()) < ' ') return false;  // or the end
      if (peek() != '\\') {
        piece.push_back(peek());
      } else if (!read_escape(piece)) {
        return false;
      }
    }
    ++at_;
    return true;
  }
  /// From the backslash to the last byte of the escape. Those of control characters are rare.
  bool read_escape(std::string& piece) {
    const std::string_view escaped = json_.substr(at_ + 1, 1);
    if (escaped == "\"" || escaped == "\\" || escaped == "/") {
      piece += escaped;
      ++at_;
      return true;
    }
    std::optional<char32_t> code = escaped_at(at_);
    if (!code) return false;
    at_ += kEscapeBytes - 1;
    if (*code >= 0xD800 && *code < 0xE000) {
      const std::optional<char32_t> low = escaped_at(at_ + 1);
      if (*code >= 0xDC00 || !low || *low < 0xDC00 || *low >= 0xE000) return false;
      code = 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00);
      at_ += kEscapeBytes;
    }
    append_utf8(piece, *code);
    return true;
  }
  /// Of an escape such as \u2581.
  std::optional<char32_t> escaped_at(size_t at) const {
    const std::string_view escape = json_.substr(at, kEscapeBytes);
    uint32_t code = 0;
    if (escape.size() < kEscapeBytes || !escape.starts_with("\\u")) return std::nullopt;
    const auto [end, error] = std::from_chars(&escape[2], escape.data() + escape.size(), code, 16);
    return end == escape.data() + escape.size() ? std::optional<char32_t>(code) : std::nullopt;
  }
  /// A number that goes on with a fraction or an exponent fails at what should follow it.
  bool read_id(uint64_t& id) {
    skip_space();
    const char* const begin = json_.data() + at_;
    const auto [end, error] = std::from_chars(begin, json_.data() + json_.size(), id);
    if (error != std::errc() || (*begin == '0' && end - begin > 1)) return false;
    at_ += static_cast<size_t>(end - begin);
    return true;
  }

  static constexpr size_t kEscapeBytes = 6;
  std::string_view json_;
  size_t at_ = 0;
};

/// SAX reader of a flat object of pieces and ids, which builds nothing else and detects duplicate pieces.
class VocabularyReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit VocabularyReader(std::string name) : name_(std::move(name)) {}

  Entries& entries() { return entries_; }

  bool start_object(size_t) override {
    if (open_) broken(fmt::format("the id of \"{}\" is an object", piece_));
    return open_ = true;
  }
  bool key(std::string& piece) override {
    piece_ = std::move(piece);
    return true;
  }
  bool number_unsigned(uint64_t id) override {
    if (!open_) return not_an_id();
    entries_.emplace_back(std::move(piece_), id);
    return true;
  }
  bool end_object() override { return true; }

  bool null() override { return not_an_id(); }
  bool boolean(bool) override { return not_an_id(); }
  bool number_integer(int64_t) override { return not_an_id(); }
  bool number_float(double, const std::string&) override { return not_an_id(); }
  bool string(std::string&) override { return not_an_id(); }
  bool binary(nlohmann::json::binary_t&) override { return not_an_id(); }
  bool start_array(size_t) override { return not_an_id(); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    broken(fmt::format("it is not valid JSON at byte {}", position));
  }

  [[noreturn]] void broken(std::string_view what) const { not_a_vocabulary(name_, what); }

 private:
  bool not_an_id() const {
    if (!open_) broken("it does not begin with {");
    broken(fmt::format("the id of \"{}\" is not a non-negative integer", piece_));
  }

  std::string name_, piece_;
  bool open_ = false;
  Entries entries_;
};

}  // namespace

std::vector<std::string> read_vocabulary(std::string_view json, const std::string& name) {
  std::optional<Entries> entries = PlainVocabularyReader(json).read();
  if (!entries) {
    VocabularyReader reader(name);
    nlohmann::json::sax_parse(json.begin(), json.end(), &reader);
    entries = std::move(reader.entries());
  }
  std::vector<std::string> pieces(entries->size());
  std::vector<bool> taken(pieces.size());
  for (auto& [piece, id] : *entries) {
    if (id >= pieces.size()) {
      not_a_vocabulary(name,
                       fmt::format("with {} pieces, \"{}\" cannot have the id {}", pieces.size(), piece, id));
    }
    if (taken[id]) {
      not_a_vocabulary(name, fmt::format("\"{}\" and \"{}\" have the same id {}", pieces[id], piece, id));
    }
    taken[id] = true;
    pieces[id] = std::move(piece);
  }
  return pieces;
}

std::string vocabulary_json(const std::vector<std::string>& pieces) {
  std::string text = "{\n";
  for (size_t id = 0; id < pieces.size(); ++id) {
    constexpr bool kAscii = true;
    const std::string quoted = nlohmann::json(pieces[id]).dump(-1, ' ', kAscii);
    text += fmt::format("  {}: {}{}\n", quoted, id, id + 1 < pieces.size() ? "," : "");
  }
  return text + "}\n";
}

}  // namespace heed
