// Splits paragraphs into sentences, which translation models were trained on, and joins the translations
// again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The sentences of a text and what stands between them: text = separators[0] + sentences[0] + separators[1]
/// + ... + separators[n], so that there is one separator more than sentences. Separators are white space or
/// empty.
struct SplitText {
  std::vector<std::string> sentences, separators;
};

/// Sentence boundaries of Unicode Standard Annex 29 by ICU, and within a line of text none of them
/// - behind an abbreviation ("Dr.", "z. B.", "p. ej.", "Fig. 3"), initials ("J. R. R.") and other letters
/// with periods ("U.S."), unless what may end a sentence is followed by a word that often begins one,
/// - behind an ordinal number in languages that write it so ("am 3. Mai"), and the number of a list's entry,
/// - behind a bracket within a sentence ("He is (really?) British."), and within addresses,
/// - before a lower-case letter ("“Oh!” he said."), which words such as iPhone do not count as.
/// Emojis and smileys belong to the sentence before. An ellipsis ends a sentence where a capital letter
/// follows; in German, where every noun has one, a word that often begins a sentence. When in doubt two
/// sentences stay together, which harms a translation less than half a sentence.
class SentenceSplitter {
 public:
  /// `language` is a code such as "de" or "pt-BR"; for one that ICU does not know the general rules hold.
  /// Throws kUsage for what is no language code.
  explicit SentenceSplitter(const std::string& language);
  ~SentenceSplitter();
  SentenceSplitter(SentenceSplitter&&) noexcept;
  SentenceSplitter& operator=(SentenceSplitter&&) noexcept;

  /// May be called from several threads at once. Throws kText for invalid UTF-8.
  SplitText split(std::string_view text) const;

 private:
  struct Implementation;
  std::unique_ptr<const Implementation> implementation_;
};

/// Puts sentences, perhaps translated, between the separators of a split text; there must be as many.
std::string join_sentences(const std::vector<std::string>& sentences,
                           const std::vector<std::string>& separators);

}  // namespace heed
