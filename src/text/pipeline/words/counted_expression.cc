#include "text/pipeline/words/counted_expression.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/text/ascii.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Reads an expression from left to right, and collects where callouts belong. It need not understand what a
/// part means, only where it begins and ends: a part may be taken for longer than it is, never for shorter.
class CalloutPlacer {
 public:
  explicit CalloutPlacer(std::string_view expression) : text_(expression) {}

  void place() {
    points_.push_back(0);
    while (!at_end()) read_part();
  }

  /// In ascending order, each once.
  std::vector<size_t> points() {
    std::ranges::sort(points_);
    points_.erase(std::unique(points_.begin(), points_.end()), points_.end());
    return points_;
  }
  uint64_t largest_count() const { return largest_count_; }
  bool reads_text() const { return reads_text_; }
  /// Whether a "#" at the end would begin a comment.
  bool ends_extended() const { return extended_; }

 private:
  static constexpr uint64_t kMostCounted = 1'000'000;  // more than the library allows

  struct Group {
    size_t begin = 0;
    bool extended = false;  // of what is around it
  };

  bool at_end() const { return at_ >= text_.size(); }
  bool is_next(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool comes(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void skip_past(char c) {
    const size_t found = text_.find(c, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + 1;
  }

  void read_part() {
    const size_t begin = at_;
    if (skip_blank()) return;
    const char c = text_[at_];
    if (c == '(') {
      open_group();
    } else if (c == ')' && !groups_.empty()) {
      const Group group = groups_.back();
      groups_.pop_back();
      extended_ = group.extended;
      ++at_;
      read_quantifiers(group.begin, false);
    } else if (c == '[') {
      skip_class();
      read_quantifiers(begin, false);
    } else if (c == '\\') {
      const bool reads_far = skip_escape();
      read_quantifiers(begin, reads_far);
    } else {
      ++at_;
      // The other bytes of a character in UTF-8.
      while (!at_end() && is_continuation_byte(text_[at_])) ++at_;
      read_quantifiers(begin, false);
    }
  }

  /// Behind a part: all its quantifiers, with the blanks between them.
  void read_quantifiers(size_t begin, bool reads_far) {
    size_t end = at_;
    for (bool more = true; more;) {
      while (!at_end() && skip_blank()) continue;
      more = skip_quantifier(reads_far);
      if (more) end = at_;
    }
    at_ = end;
    if (!reads_far) return;
    points_.push_back(begin);
    points_.push_back(end);
  }

  /// False if there is none. Sets `repeats` if it repeats.
  bool skip_quantifier(bool& repeats) {
    if (at_end()) return false;
    const char c = text_[at_];
    if (c == '*' || c == '+' || c == '?') {
      repeats |= c != '?';
      ++at_;
      return true;
    }
    if (c != '{') return false;
    if (!skip_interval()) return false;
    repeats = true;
    return true;
  }

  /// {3}, {3,}, {,5} or {3,5}
  bool skip_interval() {
    uint64_t number = 0, largest = 0;
    size_t end = at_ + 1;
    for (; end < text_.size() && (is_ascii_digit(text_[end]) || text_[end] == ','); ++end) {
      const uint64_t digit = static_cast<unsigned char>(text_[end]) - uint64_t{'0'};
      number = text_[end] == ',' ? 0 : std::min(10 * number + digit, kMostCounted);
      largest = std::max(largest, number);
    }
    if (end >= text_.size() || text_[end] != '}') return false;
    largest_count_ = std::max(largest_count_, largest);
    at_ = end + 1;
    return true;
  }

  /// Comments, and white space where it has no meaning.
  bool skip_blank() {
    if (comes("(?#")) {
      while (!at_end() && text_[at_] != ')') at_ += is_next('\\') ? 2 : 1;
      at_ = std::min(at_ + 1, text_.size());
      return true;
    }
    if (!extended_) return false;
    if (is_next('#')) {
      skip_past('\n');
      return true;
    }
    if (std::string_view(" \t\n\v\f\r").find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }

  void open_group() {
    groups_.push_back({at_, extended_});
    ++at_;
    if (!is_next('?')) return;
    ++at_;
    if (comes("<=") || comes("<!")) {
      at_ += 2;
    } else if (is_next('<')) {
      skip_past('>');
    } else if (is_next('\'')) {
      ++at_;
      skip_past('\'');
    } else if (!at_end() && (is_ascii_alphanumeric(text_[at_]) || is_next('-'))) {
      read_options();
    } else if (!is_next('(')) {
      ++at_;  // of (?: (?= (?! (?>; what follows "(?(" is a group
    }
  }

  /// (?im-x) counts to the end of the group around it, (?im-x: to its own.
  void read_options() {
    bool on = true;
    for (; !at_end() && text_[at_] != ')' && text_[at_] != ':'; ++at_) {
      if (text_[at_] == '-') on = false;
      if (text_[at_] == 'x') extended_ = on;
    }
    if (is_next(')')) groups_.pop_back();
    at_ = std::min(at_ + 1, text_.size());
  }

  /// [a-z&&[^b]]; a "]" at the beginning is itself if another one follows.
  void skip_class() {
    size_t depth = 0;
    while (!at_end()) {
      const char c = text_[at_];
      if (c == '\\') {
        skip_escape();
        continue;
      }
      ++at_;
      if (c == '[') {
        ++depth;
        if (is_next('^')) ++at_;
        if (is_next(']') && text_.find(']', at_ + 1) != std::string_view::npos) ++at_;
      }
      if (c == ']' && --depth == 0) return;
    }
  }

  /// Whether it reads as much as a group can.
  bool skip_escape() {
    ++at_;
    if (at_end()) return false;
    const char c = text_[at_++];
    const bool in_braces = std::string_view("pPxokg").find(c) != std::string_view::npos;
    if (in_braces && is_next('{')) {
      skip_past('}');
    } else if ((c == 'k' || c == 'g') && is_next('<')) {
      skip_past('>');
    } else if ((c == 'k' || c == 'g') && is_next('\'')) {
      ++at_;
      skip_past('\'');
    } else if ((c == 'C' || c == 'M') && is_next('-')) {  // a key with Control or Meta
      ++at_;
      skip_character();
    } else if (c == 'c') {
      skip_character();
    } else if (c == 'x' || c == 'u' || is_ascii_digit(c)) {
      while (!at_end() && is_ascii_alphanumeric(text_[at_])) ++at_;
    }
    const bool reads_text =
        (c >= '1' && c <= '9') || std::string_view("kXyY").find(c) != std::string_view::npos;
    reads_text_ |= reads_text;
    return reads_text || c == 'g';
  }

  void skip_character() {
    if (is_next('\\')) {
      skip_escape();
    } else if (!at_end()) {
      ++at_;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool extended_ = false;
  std::vector<Group> groups_;
  std::vector<size_t> points_;
  uint64_t largest_count_ = 0;
  bool reads_text_ = false;
};

}  // namespace

CountedExpression counted_expression(std::string_view expression, std::string_view callout) {
  CalloutPlacer placer(expression);
  placer.place();
  CountedExpression counted;
  size_t from = 0;
  for (const size_t point : placer.points()) {
    counted.text += expression.substr(from, point - from);
    counted.text.append("(*").append(callout).append(")");
    if (point == 0) counted.text += "(?:";
    from = point;
  }
  counted.text.append(expression.substr(from)).append(placer.ends_extended() ? "\n)" : ")");
  counted.weight += (expression.size() + static_cast<size_t>(placer.largest_count())) / 64;
  counted.reads_text = placer.reads_text();
  return counted;
}

}  // namespace heed
