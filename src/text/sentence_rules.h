// Which of the boundaries that ICU finds between sentences hold, and which it does not find.
#pragma once

#include <string_view>

#include "text/abbreviations.h"

namespace heed {

class SentenceRules {
 public:
  /// `language` is a language code of two or three letters.
  explicit SentenceRules(std::string_view language) : abbreviations_(language) {}

  /// Two neighbours that ICU divides, without white space at their ends.
  struct Neighbours {
    std::string_view sentence;   ///< the whole sentence so far
    std::string_view separator;  ///< the white space between them; may be empty
    std::string_view next;
  };
  /// Whether they are parts of one sentence.
  bool belong_together(const Neighbours& neighbours) const;

  /// Where in `sentence`, at `from` or later, another sentence begins behind an ellipsis character, which ICU
  /// does not know to end one; its size if nowhere.
  size_t behind_ellipsis(std::string_view sentence, size_t from) const;

 private:
  bool begins_sentence(std::string_view next) const;
  bool joined_by_period(std::string_view sentence, std::string_view next) const;

  Abbreviations abbreviations_;
};

/// How many bytes at the beginning of a text are emojis and smileys, with the white space between them: they
/// belong to the sentence before.
size_t leading_emojis(std::string_view text);

/// Whether a text is certainly no more than one sentence, without asking ICU: Latin letters, and no period,
/// exclamation or question mark but at its end.
bool is_one_sentence(std::string_view text);

}  // namespace heed
