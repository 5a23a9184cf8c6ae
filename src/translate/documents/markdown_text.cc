#include "translate/documents/markdown_text.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/documents/document_labels.h"

namespace heed::translate {
namespace {

/// What stands for a footnote reference or a formula: MD4C passes on entities as they are, and looks for no
/// markup in them.
constexpr std::string_view kKeptEntity = "&fn;";

/// What may stand before the fence of a block of code: indentation, and marks of quotations; before the first
/// one, of items of lists, too.
constexpr std::string_view kBeforeFence = " \t>", kBeforeFirstFence = " \t>-*+.)0123456789";

size_t indentation(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// The bytes by which the further paragraphs of a note are indented; 0 for a line that is not.
size_t note_indentation(std::string_view line) {
  if (line.starts_with('\t')) return 1;
  return line.starts_with("    ") ? 4 : 0;
}

/// Around a formula that is shown on a line of its own.
constexpr std::string_view kDisplay = "$$";

bool is_letter_or_digit_at(std::string_view text, size_t at) {
  return at < text.size() && is_letter_or_digit(next_code_point(text, at));
}

bool is_space_or_line_end(char c) {
  return std::string_view(" \t\r\n").find(c) != std::string_view::npos;
}

/// Whether what a dollar sign begins counts dollars: "5 or 10" of "$5 or 10$", but not "2 x" and "5 \text".
bool begins_amount(std::string_view content) {
  if (!is_ascii_digit(static_cast<unsigned char>(content[0]))) return false;
  for (size_t at = 0; at + 2 < content.size(); ++at) {
    if (is_space_or_line_end(content[at]) && is_letter_or_digit_at(content, at + 1) &&
        !is_ascii_digit(content[at + 1]) && is_letter_or_digit_at(content, at + 2))
      return true;
  }
  return false;
}

/// What encloses a dollar sign that stands for itself: "($)", "**$**".
using Marks = std::pair<std::string_view, std::string_view>;
constexpr auto kEnclosing = std::to_array<Marks>({{"(", ")"},
                                                  {"[", "]"},
                                                  {"\"", "\""},
                                                  {"'", "'"},
                                                  {"*", "*"},
                                                  {"_", "_"},
                                                  {"“", "”"},
                                                  {"‘", "’"},
                                                  {"„", "“"},
                                                  {"‚", "‘"},
                                                  {"«", "»"},
                                                  {"»", "«"}});

/// Whether marks enclose the bytes [begin, end) of a line, and nothing else.
bool is_enclosed(std::string_view line, size_t begin, size_t end) {
  return std::ranges::any_of(kEnclosing, [&](const Marks& marks) {
    return line.substr(0, begin).ends_with(marks.first) && line.substr(end).starts_with(marks.second);
  });
}

/// Whether a piece between spaces is a word of several letters, with a mark behind it or not.
bool is_ordinary_word(std::string_view word) {
  word = word.substr(0, word.find_last_not_of(",.;:!?") + 1);
  size_t letters = 0;
  for (size_t at = 0; at < word.size(); ++letters) {
    if (is_ascii_digit(static_cast<unsigned char>(word[at])) ||
        !is_letter_or_digit(next_code_point(word, at)))
      return false;
  }
  return letters > 1;
}

/// Whether two words in a row say that dollar signs enclose no formula: "for my car". A command of LaTeX, a
/// power or an equation says that they enclose one.
bool is_prose(std::string_view content) {
  if (content.find_first_of("^=") != std::string_view::npos) return false;
  for (size_t at = content.find('\\'); at != std::string_view::npos; at = content.find('\\', at + 2)) {
    if (is_letter_or_digit_at(content, at + 1)) return false;
  }
  bool behind_word = false;
  for (const std::string_view piece : split_whitespace(content)) {
    const bool word = is_ordinary_word(piece);
    if (word && behind_word) return true;
    behind_word = word;
  }
  return false;
}

/// The bytes of the formula "$x$" or "$$x$$" at a position of a line, or "$x$" of some lines; 0 if there is
/// none. As in pandoc, no white space is inside of its dollar signs, and no digit behind it: "$5 and $10" are
/// prices. Nor is it joined to a word: "US$5/A$", "$HOME/$USER". Nor do words in a row make a formula, nor
/// signs that stand for themselves: "($) for money".
size_t formula_length(std::string_view line, size_t at) {
  if (line[at] != '$' || (at > 0 && line[at - 1] == '$')) return 0;
  if (at > 0 && is_letter_or_digit_at(line, character_start(line, at - 1))) return 0;
  const bool display = line.substr(at).starts_with(kDisplay);
  const std::string_view mark = kDisplay.substr(0, display ? 2 : 1);
  const size_t begin = at + mark.size();
  if (begin >= line.size() || (!display && is_space_or_line_end(line[begin])) || is_enclosed(line, at, begin))
    return 0;
  for (size_t end = begin; end < line.size(); ++end) {
    if (line[end] == '`') return 0;  // code
    if (display && line[end] == '\n') return 0;
    if (line[end] == '\\') {
      ++end;
    } else if (line[end] == '$') {
      const size_t behind = end + mark.size();
      const std::string_view content = line.substr(begin, end - begin);
      const bool closes = end > begin && line.substr(end).starts_with(mark) &&
                          !is_enclosed(line, end, behind) &&
                          (display || !is_space_or_line_end(line[end - 1])) &&
                          !is_letter_or_digit_at(line, behind) && !line.substr(behind).starts_with('$');
      return closes && !begins_amount(content) && !is_prose(content) ? behind - at : 0;
    }
  }
  return 0;
}

/// The position behind the end of the line that a position is in.
size_t behind_line(std::string_view document, size_t at) {
  const size_t end = document.find('\n', at);
  return end == std::string_view::npos ? document.size() : end + 1;
}

/// Whether the line at a position may go on with the paragraph of the line before it: it is not empty, and
/// has no mark of another block.
bool continues_paragraph(std::string_view document, size_t at) {
  const std::string_view line = strip(document.substr(at, behind_line(document, at) - at));
  if (line.empty() || line[0] == '>' || line[0] == '|' || line[0] == '<' || line.starts_with("[^"))
    return false;
  const size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  const size_t mark = std::min(line.find_first_not_of(digits > 0 ? ".)" : "-+*#", digits), line.size());
  return mark == digits || (mark < line.size() && line[mark] != ' ');
}

/// The position behind the line at a position, and behind those that formulas in it go on in.
size_t behind_wrapped_line(std::string_view document, size_t at) {
  size_t end = behind_line(document, at);
  const auto next_end = [&] { return continues_paragraph(document, end) ? behind_line(document, end) : end; };
  size_t next = next_end();
  for (size_t n = at; n < end; ++n) {
    if (document[n] == '\\') {
      ++n;  // the next character is no markup
    } else if (document[n] == '$') {
      n += std::max(formula_length(document.substr(at, next - at), n - at), size_t{1}) - 1;
      if (n < end) continue;
      end = next;
      next = next_end();
    }
  }
  return end;
}

/// A formula of several lines.
struct DisplayedFormula {
  size_t begin = 0;  ///< of its first line, or of its "$$" behind marks of a list or a text
  size_t end = 0;    ///< of the line that its second "$$" ends
};

/// The formula of several lines that the line at a position begins: with "$$", behind marks of items of lists
/// or not, or at its end: "The sum is $$". Behind marks or a text, the second "$$" is alone in its line:
/// "Lunch: $$" and "Dinner: $$" may be prices. No line of it is empty.
std::optional<DisplayedFormula> find_display(std::string_view document, size_t at) {
  const size_t first_end = std::min(document.find('\n', at), document.size());
  const std::string_view first = document.substr(at, first_end - at);
  const size_t mark = first.find(kDisplay);
  if (mark == std::string_view::npos) return std::nullopt;
  const std::string_view before = first.substr(0, mark), behind = first.substr(mark + kDisplay.size());
  const bool alone = before.find_first_not_of(kBeforeFence) == std::string_view::npos;
  const bool in_text = before.find_first_not_of(kBeforeFirstFence) != std::string_view::npos;
  const bool ends_text =
      before.ends_with(' ') && before.find('`') == std::string_view::npos && strip(behind).empty();
  if (behind.find(kDisplay) != std::string_view::npos || (in_text && !ends_text)) return std::nullopt;
  for (size_t next = first_end + 1; next < document.size();) {
    const size_t end = std::min(document.find('\n', next), document.size());
    std::string_view line = strip(document.substr(next, end - next));
    line.remove_prefix(std::min(line.find_first_not_of(kBeforeFence), line.size()));
    if (line.empty()) return std::nullopt;
    if (const size_t last = line.find(kDisplay); last != std::string_view::npos) {
      const size_t begin = alone ? at : at + mark;
      const bool closes = last + kDisplay.size() == line.size() && (alone || last == 0);
      if (!closes || (!alone && is_prose(document.substr(begin, end - begin)))) return std::nullopt;
      return DisplayedFormula{begin, end};
    }
    next = end + 1;
  }
  return std::nullopt;
}

}  // namespace

size_t footnote_label(std::string_view text, size_t at) {
  if (!text.substr(at).starts_with("[^")) return 0;
  const size_t end = text.find_first_of("[] \t\r\n", at + 2);
  if (end == std::string_view::npos || text[end] != ']' || end == at + 2) return 0;
  return end + 1 - at;
}

MarkdownText::MarkdownText(std::string_view document) : document_(document) {
  for (size_t at = behind_front_matter(document); at < document.size();) {
    const auto formula = fence_.empty() ? find_display(document, at) : std::nullopt;
    if (formula) {  // ends a paragraph
      if (formula->begin > at) {
        add(document.substr(at, formula->begin - at));
        keep(document.substr(formula->begin, formula->end - formula->begin));
        text_ += '\n';
      }
      text_ += '\n';
      at = std::min(formula->end + 1, document.size());
      continue;
    }
    const size_t end = fence_.empty() ? behind_wrapped_line(document, at) : behind_line(document, at);
    add(document.substr(at, end - at));
    at = end;
  }
}

bool MarkdownText::parse(const MD_PARSER& parser, void* self) const {
  return md_parse(text_.data(), static_cast<MD_SIZE>(text_.size()), &parser, self) == 0;
}

std::string_view MarkdownText::source_of(std::string_view text) const {
  if (text.data() < text_.data() || text.data() + text.size() > text_.data() + text_.size()) return {};
  const auto at = static_cast<size_t>(text.data() - text_.data());
  const size_t begin = original(at);
  return document_.substr(begin, original(at + text.size()) - begin);
}

void MarkdownText::add(std::string_view line) {
  const size_t indented = indentation(line), label = footnote_label(line, indented);
  const bool begins = indented < 4 && label > 0 && line.substr(indented + label).starts_with(':');
  if (begins && fence_.empty()) return add_note(line, indented + label + 1);
  in_note_ = in_note_ && (strip(line).empty() || note_indentation(line) > 0);
  if (in_note_) line.remove_prefix(note_indentation(line));
  follow_fence(line);
  copy_with_kept(line);
}

void MarkdownText::follow_fence(std::string_view line) {
  line = strip(line);
  const size_t begin = line.find_first_not_of(fence_.empty() ? kBeforeFirstFence : kBeforeFence);
  if (begin == std::string_view::npos || (line[begin] != '`' && line[begin] != '~')) return;
  const size_t end = std::min(line.find_first_not_of(line[begin], begin), line.size());
  const std::string_view fence = line.substr(begin, end - begin), rest = line.substr(end);
  if (!fence_.empty()) {
    if (rest.empty() && fence.starts_with(fence_)) fence_.clear();
  } else if (fence.size() >= 3 && (fence[0] == '~' || rest.find('`') == std::string_view::npos)) {
    fence_ = fence;
  }
}

/// Without its label, and as a paragraph of its own.
void MarkdownText::add_note(std::string_view line, size_t label) {
  text_ += '\n';
  line.remove_prefix(label);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  in_note_ = true;
  copy_with_kept(line);
}

void MarkdownText::copy(std::string_view part) {
  if (part.empty()) return;
  origins_.emplace_back(text_.size(), static_cast<size_t>(part.data() - document_.data()));
  text_ += part;
}

void MarkdownText::keep(std::string_view part) {
  const auto begin = static_cast<size_t>(part.data() - document_.data());
  origins_.emplace_back(text_.size(), begin);
  text_ += kKeptEntity;
  origins_.emplace_back(text_.size(), begin + part.size());  // what follows, also if it is empty
}

void MarkdownText::copy_with_kept(std::string_view part) {
  size_t done = 0;
  for (size_t at = 0; at < part.size(); ++at) {
    if (part[at] == '\\') {
      ++at;  // the next character is no markup
      continue;
    }
    const size_t size = part[at] == '$' ? formula_length(part, at) : footnote_label(part, at);
    if (size == 0) continue;
    copy(part.substr(done, at - done));
    keep(part.substr(at, size));
    done = at + size;
    at = done - 1;
  }
  copy(part.substr(done));
}

size_t MarkdownText::original(size_t at) const {
  const auto next = std::ranges::upper_bound(origins_, at, {}, &std::pair<size_t, size_t>::first);
  if (next == origins_.begin()) return 0;
  return std::prev(next)->second + (at - std::prev(next)->first);
}

}  // namespace heed::translate
