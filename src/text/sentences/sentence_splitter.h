// Splits paragraphs into sentences, the training unit of translation models, and joins their translations.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The sentences of a text and the separators between them: text = separators[0] + sentences[0] +
/// separators[1] + ... + separators[n], with n sentences. Separators are white space or empty.
struct SplitText {
  std::vector<std::string> sentences, separators;
};

/// ICU's sentence boundaries (Unicode Standard Annex 29), except, within a line,
/// - after an abbreviation ("Dr.", "z. B.", "p. ej.", "Fig. 3"), initials ("J. R. R.") and other letters
///   with periods ("U.S."), unless the abbreviation may end a sentence and a typical first word follows,
/// - after an ordinal number in languages that write it with a period ("am 3. Mai"), and after a list number,
/// - after a parenthesis within a sentence ("He is (really?) British."), and within addresses,
/// - before a lower-case letter ("“Oh!” he said."), except in words such as iPhone.
/// Emojis and smileys belong to the previous sentence. An ellipsis ends a sentence if a capital letter
/// follows; in German, with its capitalized nouns, if a typical first word follows. In doubt, two sentences
/// stay together: half a sentence would harm the translation more.
class SentenceSplitter {
 public:
  /// `language` is a code such as "de" or "pt-BR"; unknown languages use the general rules. Throws kUsage for
  /// an invalid code.
  explicit SentenceSplitter(const std::string& language);
  ~SentenceSplitter();
  SentenceSplitter(SentenceSplitter&&) noexcept;
  SentenceSplitter& operator=(SentenceSplitter&&) noexcept;

  /// Thread-safe. Throws kText for invalid UTF-8.
  SplitText split(std::string_view text) const;

 private:
  struct Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

}  // namespace heed
