// Parts of a text that a translation keeps as they are: addresses, code, format strings, numbers, emojis.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class SpanKind {
  kExact,   ///< must come out character by character
  kNumber,  ///< must come out with the same digits: "19,99 €" may become "€19.99"
  kTerm,    ///< of a glossary: must come out as given, or with a capital first letter
};

/// Bytes [begin, end) of a text.
struct ProtectedSpan {
  size_t begin = 0, end = 0;
  SpanKind kind = SpanKind::kExact;
};

/// The spans of a text, in order, none inside another. Thread-safe. Throws kText for invalid UTF-8.
///
/// Exact: `code`, URLs, e-mail addresses, file names, HTML entities, %s and %1$d, {name}, {{name}}, ${name},
/// $NAME, @name, emojis and smileys, version numbers, IP addresses, ISO dates, phone numbers, identifiers and
/// placeholder marks such as ⟦0⟧. Numbers: with decimals, units, or at least four digits.
std::vector<ProtectedSpan> find_protected_spans(std::string_view text);

/// Something that a translation must hold.
struct RequiredText {
  std::string text;
  SpanKind kind = SpanKind::kExact;
};
/// Which of `required` a translation does not hold, in order; each occurrence counts for one.
std::vector<size_t> missing_texts(std::string_view translation, const std::vector<RequiredText>& required);

/// How often `phrase` stands in a text, not within longer words or numbers.
size_t count_phrase(std::string_view text, std::string_view phrase);

}  // namespace heed
