// Normalizers of tokenizer.json: they rewrite a text before it is cut into words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/aligned_text.h"
#include "text/pipeline/words/pattern.h"

namespace heed {

/// Immutable and thread-safe.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};

using NormalizerList = std::vector<std::unique_ptr<const Normalizer>>;

/// Applies them one by one. Throws kText if a step makes more than `limit` bytes of the text, and Cancelled
/// (base/stop.h).
void normalize(AlignedText& text, const NormalizerList& normalizers, size_t limit);

/// Unicode's normalization forms (Unicode Standard Annex 15).
enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };
std::unique_ptr<Normalizer> unicode_normalizer(UnicodeForm form);

/// By Unicode's mapping of single characters.
std::unique_ptr<Normalizer> lowercase_normalizer();
/// Removes white space at either end.
std::unique_ptr<Normalizer> strip_normalizer(bool left, bool right);
/// Removes combining marks.
std::unique_ptr<Normalizer> strip_accents_normalizer();
std::unique_ptr<Normalizer> replace_normalizer(Pattern pattern, std::string content);
std::unique_ptr<Normalizer> prepend_normalizer(std::string text);
/// Removes control characters and turns others into spaces, as SentencePiece's rule "nmt" does.
std::unique_ptr<Normalizer> nmt_normalizer();
/// Writes each byte as a printable character (characters_of_bytes()).
std::unique_ptr<Normalizer> byte_level_normalizer();

struct BertNormalizerOptions {
  bool clean_text = true;     ///< removes control characters; white space becomes a space
  bool chinese_apart = true;  ///< spaces around each CJK ideograph
  bool strip_accents = true;
  bool lowercase = true;
};
/// BERT's basic tokenizer without its cuts (Devlin et al., 2019).
std::unique_ptr<Normalizer> bert_normalizer(const BertNormalizerOptions& options);

/// SentencePiece's compiled character map. It must have no fault
/// (text/pipeline/normalization/charsmap_check.h).
std::unique_ptr<Normalizer> precompiled_normalizer(std::string_view charsmap);

/// Replaces every match; the new text has the origin of the last character of the match.
void replace_matches(AlignedText& text, const Pattern& pattern, std::string_view content);

}  // namespace heed
