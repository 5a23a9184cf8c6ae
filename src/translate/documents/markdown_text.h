// A Markdown document as MD4C reads it, which knows no footnotes: it would take "[^1]" for a text or a link,
// and the rest of a note, which is indented, for code. Formulas between dollar signs are read here, too: MD4C
// would take "$5 and $10" for one.
#pragma once

#include <md4c.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::translate {

class MarkdownText {
 public:
  /// Front matter is left out.
  explicit MarkdownText(std::string_view document);

  /// Calls the functions of `parser` with `self`. False if MD4C cannot parse the document.
  bool parse(const MD_PARSER& parser, void* self) const;

  /// The part of the document that a text of MD4C comes from; of a footnote reference or a formula, which
  /// arrive as an entity, "[^1]" or "$x$". Its data() is null for a text that is not in the document.
  std::string_view source_of(std::string_view text) const;

  /// Whether a part of the document that arrives as an entity is a footnote reference or a formula.
  static bool is_kept(std::string_view source) {
    return source.starts_with("[^") || (source.size() > 1 && source.starts_with('$'));
  }

 private:
  void add(std::string_view line);
  void add_note(std::string_view line, size_t label);
  void follow_fence(std::string_view line);
  void copy(std::string_view part);
  void keep(std::string_view part);
  void copy_with_kept(std::string_view part);
  size_t original(size_t at) const;

  std::string_view document_;
  std::string text_;                                // what MD4C reads
  std::vector<std::pair<size_t, size_t>> origins_;  // where in the text another part of the document begins
  std::string fence_;                               // that of the open code block
  bool in_note_ = false;
};

/// The bytes of "[^label]" at a position; 0 if there is none.
size_t footnote_label(std::string_view text, size_t at);

}  // namespace heed::translate
