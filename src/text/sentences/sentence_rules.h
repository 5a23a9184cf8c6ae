// Corrections of ICU's sentence boundaries: which to reject, and which to add.
#pragma once

#include <string_view>

#include "text/sentences/abbreviations.h"

namespace heed {

class SentenceRules {
 public:
  /// `language` is a language code of two or three letters.
  explicit SentenceRules(std::string_view language) : abbreviations_(language) {}

  /// Two adjacent segments that ICU splits, without surrounding white space.
  struct Neighbours {
    std::string_view sentence;   ///< the sentence so far
    std::string_view separator;  ///< the white space between them; may be empty
    std::string_view next;
  };
  /// Whether to reject the boundary between them.
  bool belong_together(const Neighbours& neighbours) const;

  /// The next boundary after an ellipsis character in `sentence`, from `from` on, which ICU does not detect;
  /// the size of `sentence` if there is none.
  size_t after_ellipsis(std::string_view sentence, size_t from) const;

 private:
  bool begins_sentence(std::string_view next) const;
  bool joined_by_period(std::string_view sentence, std::string_view next) const;

  Abbreviations abbreviations_;
};

/// The length in bytes of leading emojis and smileys, with the white space between them; they belong to the
/// previous sentence.
size_t leading_emojis(std::string_view text);

/// A fast check that a text is a single sentence: Latin letters, and no period, exclamation or question mark
/// except at its end.
bool is_one_sentence(std::string_view text);

}  // namespace heed
