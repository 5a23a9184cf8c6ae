// Spans that a translation must preserve: addresses, code, format strings, numbers, emojis, glossary terms.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class SpanKind {
  kExact,     ///< must be copied verbatim
  kFraction,  ///< a number that must be copied verbatim, since tokenizers take it apart: 1½, 1 1/2
  kNumber,    ///< must keep its digits: "19,99 €" may become "€19.99"
  kTerm,      ///< glossary term: must be translated as given, or with a capital first letter
};

constexpr bool is_verbatim(SpanKind kind) {
  return kind == SpanKind::kExact || kind == SpanKind::kFraction;
}

/// Bytes [begin, end) of a text.
struct ProtectedSpan {
  size_t begin = 0, end = 0;
  SpanKind kind = SpanKind::kExact;
};

/// The spans of a text, in order, without overlap. Thread-safe. Throws kText for invalid UTF-8.
///
/// Exact: `code`, URLs, e-mail addresses, file names, HTML entities, %s and %1$d, {name}, {{name}}, ${name},
/// $NAME, @name, emojis and smileys, version numbers, IP and MAC addresses, DOIs, ISO dates, phone numbers,
/// numbers of accounts and cards, feet and inches such as 5'10", durations such as 1h 45m, powers and numbers
/// of footnotes such as 10⁶, x^2, mc² and 1990¹, identifiers and hexadecimal numbers, names such as user_id,
/// getName(), GitHub and H&M, comparison signs before a number, signs that models hardly know (~, ^, |), and
/// placeholder marks such as ⟦0⟧; and 200 or more letters, digits and _+/=- without a space, such as base64,
/// which are no word of any language that writes spaces. Fractions: ½, 2 ¾, 1 1/2. Numbers: with decimals,
/// units, or at least four digits, and dates such as 17-05-2022.
std::vector<ProtectedSpan> find_protected_spans(std::string_view text);

/// Text that a translation must contain.
struct RequiredText {
  std::string text;
  SpanKind kind = SpanKind::kExact;
};
/// Indices of the `required` texts that are missing in a translation; each occurrence satisfies one of them.
std::vector<size_t> missing_texts(std::string_view translation, const std::vector<RequiredText>& required);

/// The number of occurrences of `phrase` in a text, excluding those inside longer words or numbers.
size_t count_phrase(std::string_view text, std::string_view phrase);

}  // namespace heed
