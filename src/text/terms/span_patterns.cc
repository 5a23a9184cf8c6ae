// The patterns are a table of ICU regular expressions. They are tried only where one can begin: not inside a
// word, and at a letter only if what must follow is near.
#include "text/terms/span_patterns.h"

#include <unicode/regex.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/close_text.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// What a match can begin with: a letter of any script, 0 to 9, or any other character except white space.
enum Beginning : unsigned { kLetter = 1, kDigit = 2, kOther = 4, kAny = 7 };

struct SpanPattern {
  SpanKind kind;
  unsigned beginnings;
  const char* expression;
};

/// At each position, the first match counts. URLs do not end with punctuation.
constexpr std::array kPatterns{
    SpanPattern{SpanKind::kExact, kOther, R"(⟦[0-9]++⟧)"},  // placeholders
    SpanPattern{SpanKind::kExact, kOther, R"(``[^`]++``|`[^`]++`)"},
    SpanPattern{
        SpanKind::kExact, kLetter,  // URLs
        R"((?<![\p{L}\p{N}])(?:(?i:https?|ftp|file)://|(?i:www)\.|(?i:mailto):)[^\s<>"“”«»„]{0,2000}[^\s<>"“”«»„.,;:!?)\]}'’…])"},
    SpanPattern{
        SpanKind::kExact, kAny,  // e-mail addresses
        R"((?<![\p{L}\p{N}])[\p{L}\p{N}._%+-]{1,64}+@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,5})"},
    SpanPattern{
        SpanKind::kExact, kAny,  // bare domains
        R"((?<![\p{L}\p{N}@.])(?:[A-Za-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){0,4}\.(?:com|org|net|de|es|io|eu|at|ch|info|edu|gov|uk|fr|nl|pl|app|dev|ai|tv|biz)|[A-Z0-9-]{1,63}+(?:\.[A-Z0-9-]{1,63}+){0,4}\.(?:COM|ORG|NET|INFO|EDU|GOV))(?:/[^\s<>"“”«»„]{0,2000}[^\s<>"“”«»„.,;:!?)\]}'’…])?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kAny,  // other domains with a path, and localhost
        R"((?<![\p{L}\p{N}@.])(?:[a-z0-9-]{1,63}+(?:\.[a-z0-9-]{1,63}+){0,4}\.[a-z]{2,24}|localhost(?::[0-9]{1,5})?)/[^\s<>"“”«»„]{0,2000}[^\s<>"“”«»„.,;:!?)\]}'’…])"
        R"(|(?<![\p{L}\p{N}@.])localhost:[0-9]{1,5}(?![\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact, kOther,
                R"(&(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});)"},
    SpanPattern{
        SpanKind::kExact, kOther,  // format strings and templates
        R"(\{\{[^{}]{1,80}\}\}|\$\{[^{}]{1,80}\}|\{[A-Za-z0-9_.:,%-]{0,40}\}|%\([A-Za-z_][A-Za-z0-9_]{0,40}\)[sdif])"},
    SpanPattern{
        SpanKind::kExact, kOther,
        R"((?<![0-9%])%(?:[0-9]{1,2}\$)?[-+0#]{0,3}[0-9]{0,3}(?:\.[0-9]{1,2})?l{0,2}[sdifuxXcgGeE@](?![\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact, kOther, R"((?<![\p{L}\p{N}$])\$[A-Za-z_][A-Za-z0-9_]{0,60})"},
    SpanPattern{SpanKind::kExact, kOther, R"((?<![\p{L}\p{N}@])@[A-Za-z0-9_]{2,40})"},
    SpanPattern{
        SpanKind::kExact, kLetter | kOther,  // paths and file names
        R"((?<![^\s("„“«'])(?:~|\.{1,2})?/[\w.-]{1,80}(?:/[\w.-]{1,80}){1,20}|(?<![\p{L}\p{N}])[A-Z]:\\(?:[^\s"<>|\\]{1,80}+(?: [^\s"<>|\\:]{1,40}+){1,3}\\){0,8}[^\s"<>|]{0,200}[\w])"},
    SpanPattern{
        SpanKind::kExact, kAny,  // file names; no German "d.h."
        R"((?<![\p{L}\p{N}])(?![dD]\.h(?![\p{L}\p{N}]))[\w-]{1,80}+\.(?:txt|pdf|py|cc|cpp|h|json|yaml|yml|xml|html|csv|tsv|jpe?g|png|gif|svg|zip|exe|md|js|ts|toml|docx?|xlsx?|mp3|mp4|sh)(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,
        kOther,  // flags; emojis with modifiers, joined sequences and tags, as of Scotland
        R"([\x{1F1E6}-\x{1F1FF}]{2}|[[\p{Extended_Pictographic}]&&[^\x{0}-\x{203B}\x{2122}\x{2139}]][\x{1F3FB}-\x{1F3FF}\x{FE0F}]?(?:\x{200D}[\p{Extended_Pictographic}][\x{1F3FB}-\x{1F3FF}\x{FE0F}]?){0,6}[\x{E0020}-\x{E007F}]{0,10})"},
    SpanPattern{SpanKind::kExact, kOther, R"((?<![^\s])[:;]-?[()DP](?![^\s.,!?]))"},
    SpanPattern{
        SpanKind::kExact, kLetter | kDigit,  // MAC addresses
        R"((?<![\p{L}\p{N}:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\p{L}\p{N}]|[:-][\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact, kLetter | kDigit,  // DOIs and numbers of arXiv
                R"((?<![\p{L}\p{N}.])(?:10\.[0-9]{4,9}/[^\s<>"“”«»„]{0,200}[^\s<>"“”«»„.,;:!?)\]}'’…])"
                R"(|(?i:arxiv):[0-9]{4}\.[0-9]{4,5}(?:v[0-9]{1,2})?(?![\p{L}\p{N}])))"},
    SpanPattern{
        SpanKind::kExact, kLetter | kDigit,  // numbers of accounts and cards in groups of four
        R"((?<![\p{L}\p{N}])(?:[A-Z]{2}[0-9]{2} [A-Z0-9]{4}(?: (?=[A-Z]{0,3}[0-9])[A-Z0-9]{4}){2,6}(?: (?=[A-Z]{0,2}[0-9])[A-Z0-9]{1,3})?(?![\p{L}\p{N}]))"
        R"(|[0-9]{4}(?: [0-9]{4}){2,4}(?![\p{L}\p{N}]| [0-9]|[.,][0-9])))"},
    SpanPattern{
        SpanKind::kExact,
        kLetter | kDigit,  // UUIDs, dates and codes with hyphens, IP addresses, versions, phone numbers
        R"((?<![\p{L}\p{N}])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,
        R"((?<![\p{L}\p{N}])[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?Z?)?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kNumber, kDigit,  // dates such as 17-05-2022, which not all languages write so
        R"((?<![\p{L}\p{N}.,-])(?:0?[1-9]|[12][0-9]|3[01])-(?:0?[1-9]|1[0-2])-(?:19|20)[0-9]{2}(?![\p{L}\p{N}-]|[.,][0-9]))"},
    SpanPattern{SpanKind::kExact, kDigit,
                R"((?<![\p{L}\p{N}.,-])[0-9]{1,12}(?:-[0-9]{1,12}){2,6}(?![\p{L}\p{N}-]|[.,][0-9]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,  // four numbers up to 255
        R"((?<![\p{L}\p{N}.])(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}(?::[0-9]{1,5})?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,  // four other numbers, but not 1.500.000.000
        R"((?<![\p{L}\p{N}.])(?![0-9]{1,3}(?:\.[0-9]{3}){3}(?![0-9]))[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?::[0-9]{1,5})?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,  // versions such as 10.0.19045 and 120.0.6099.109, but not 1.500.000
        R"((?<![\p{L}\p{N}.,])(?![0-9]{1,3}(?:\.[0-9]{3}){2,4}(?![0-9.]))[0-9]{1,3}(?:\.[0-9]{1,6}){2,4}(?:-[A-Za-z0-9]{1,20}(?:\.[A-Za-z0-9]{1,10}){0,3})?(?![\p{L}\p{N}]|[.,][0-9]))"},
    SpanPattern{
        SpanKind::kExact, kLetter | kDigit,
        R"((?<![\p{L}\p{N}.])(?:v[0-9]{1,4}(?:\.[0-9]{1,4}){1,4}|[0-9]{1,2}(?:\.[0-9]{1,2}){2})(?:-[A-Za-z0-9.]{1,20})?(?![\p{L}\p{N}]|\.[0-9]))"},
    SpanPattern{
        SpanKind::kExact, kDigit | kOther,
        R"((?<![\p{L}\p{N}])(?:\+[0-9]{1,3}[ /-]?\(?[0-9]{1,9}(?:[ )/-]{1,2}[0-9]{2,8}){1,5}|0[0-9]{1,4}[ /-][0-9]{2,9}(?:[ -][0-9]{2,8}){0,4})(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,  // feet and inches, minutes and seconds: 5'10"
        R"((?<![\p{L}\p{N}.,'’′])[0-9]{1,3} ?['’′] ?[0-9]{1,2}(?:[.,][0-9]{1,2}| ?[¼½¾])?(?:["”″]|''|’’|′′))"},
    SpanPattern{
        SpanKind::kFraction, kDigit | kOther,
        R"((?<![\p{L}\p{N}.,])(?:[0-9]{1,3}[ \x{A0}]?)?[¼½¾⅓⅔⅛⅜⅝⅞](?!\p{N})|(?<![\p{L}\p{N}.,/])[1-9][0-9]{0,2} [1-9]/(?:[2-9]|1[0-6])(?![\p{L}\p{N}/]|[.,][0-9]))"},
    SpanPattern{
        SpanKind::kExact, kLetter,  // codes that mix cases and digits: aB3xY, iPhone15
        R"((?<![\p{L}\p{N}-])(?=[A-Za-z]{0,40}+[0-9])(?=[A-Za-z0-9]{0,40}[a-z][A-Z])[A-Za-z][A-Za-z0-9]{2,40}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kLetter | kDigit,  // identifiers: capitals and digits, or many digits
        R"((?<![\p{L}\p{N}-])(?=[A-Z-]{0,40}+[0-9])[A-Z][A-Z0-9]{0,40}(?:-[A-Z0-9]{1,40}){0,5}(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.,])[0-9]{7,40}(?![\p{L}\p{N}]|[.,][0-9]))"},
    SpanPattern{SpanKind::kExact, kDigit,  // capitals between digits: 1Z999AA10
                R"((?<![\p{L}\p{N}-])(?=[0-9]{1,40}+[A-Z]{1,40}+[0-9])[0-9][A-Z0-9]{3,40}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,  // the same with hyphens: 8F-32-AA; neither 4K-TV nor 9AM-5PM
        R"((?<![\p{L}\p{N}-])(?=[0-9]{1,8}+[A-Z]{1,8}+-[A-Z-]{0,40}+[0-9])(?![0-9]{1,8}(?:AM|PM|[HKM]|ST|ND|RD|TH)-[0-9]{1,8}(?:AM|PM|[HKM]|ST|ND|RD|TH)?(?![\p{L}\p{N}]))[0-9]{1,8}[A-Z]{1,8}(?:-[A-Z0-9]{1,40}){1,5}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact,
        kLetter | kDigit,  // hexadecimal numbers, and others of mixed letters and digits
        R"((?<![\p{L}\p{N}])(?:(?=[a-f]{0,128}+[0-9])(?=[0-9]{0,128}+[a-f])[0-9a-f]{7,128})"
        R"(|(?=[a-z]{0,64}+[0-9]{1,64}+[a-z]{1,64}+[0-9])[a-z0-9]{10,64}|(?=[0-9]{1,64}+[a-z]{1,64}+[0-9]{1,64}+[a-z])[a-z0-9]{10,64})(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kLetter | kDigit,  // user_id, getName(), iPhone; no Lehrer_innen
        R"((?<![\p{L}\p{N}_-])(?:(?![A-Za-z]{1,40}_in(?:nen)?(?![\p{L}\p{N}_]))[A-Za-z0-9]{1,40}+(?:_{1,2}[A-Za-z0-9]{1,40}+){1,10})"
        R"(|(?!mmHg)(?:[a-z]{1,20}+[A-Z][A-Za-z]{2,16}+|[a-z]{2,20}+[A-Z][A-Za-z]|iOS))(?:\(\))?(?![\p{L}\p{N}_]))"},
    SpanPattern{
        SpanKind::kExact,
        kLetter,  // capitals inside: GitHub; no McDonald, LehrerIn
        R"((?<![\p{L}\p{N}-])(?!Mc[A-Z]|Mac[A-Z](?!ook))(?:LinkedIn|(?![A-Z][a-z]{1,30}In(?:nen)?(?![\p{L}\p{N}]))[A-Z][a-z]{1,20}+(?:[A-Z][A-Za-z]{1,16}+|X))(?![\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact, kLetter,  // short names with &: H&M, AT&T, R&D
                R"((?<![\p{L}\p{N}&])\p{Lu}[\p{L}\p{N}]{0,3}+&\p{Lu}\p{L}{0,3}+(?![\p{L}\p{N}&;]))"},
    SpanPattern{
        SpanKind::kExact, kDigit,  // durations: 1h 45m, 7 h 30 min, 2h 10m 5s
        R"((?<![\p{L}\p{N}.,:])[0-9]{1,3} ?h ?[0-9]{1,2} ?(?:m|min)(?: ?[0-9]{1,2} ?s)?(?![\p{L}\p{N}]))"},
    SpanPattern{SpanKind::kExact,
                kDigit,  // powers and footnotes, which tokenizers write as digits: 10⁻⁶, 1990¹
                R"((?<![\p{L}\p{N}.,])[0-9]{1,15}(?:[.,][0-9]{1,15})?[⁺⁻]?[⁰¹²³⁴-⁹]{1,15}(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kLetter | kDigit,  // powers with ^: 10^6, x^2, e^{2x}
        R"((?<![\p{L}\p{N}^])(?:[0-9]{1,15}+(?:[.,][0-9]{1,15}+)?[A-Za-zα-ω]{0,2}|[A-Za-zα-ω]{1,3})\^(?:[-+−]?(?:[0-9]{1,9}+|\p{L})(?![\p{L}\p{N}])|\{[^{}\s]{1,40}\}|\([^()\s]{1,40}\)))"},
    SpanPattern{
        SpanKind::kExact, kLetter,  // powers of variables, and ions: mc², Ca²⁺; no units, and no m/s²
        R"((?<![\p{L}\p{N}/])(?!(?:[dckmµμn]?m|ft|in|yd|mi)[²³](?![⁰¹²³⁴-⁹]))(?:[A-Za-zα-ω]{1,2}|sin|cos|tan|log)[⁺⁻]?[⁰¹²³⁴-⁹]{1,15}[⁺⁻]?(?![\p{L}\p{N}]))"},
    SpanPattern{
        SpanKind::kExact, kOther,  // signs that models lose: > 100 mg, ~5, Home | News
        R"((?<![^\s])<3(?![^\s.,!?])|(?<![^\s])[<>]{1,5}=?(?![^\s])|(?<![^\s(\[„“"«])(?:[<>]=?|[≤≥±≈])(?=[ \x{A0}]?[-+−]?[€$£]?[0-9])|~{1,20}|\^{1,20}|\|{1,20})"},
    SpanPattern{
        SpanKind::kNumber, kDigit | kOther,
        R"((?<![\p{L}\p{N}])(?:[€$£] ?[0-9]{1,15}(?:[.,][0-9]{1,15}){0,5}|[0-9]{1,15}(?:[.,][0-9]{1,15}){0,5}[ \x{A0}]?(?:[%‰€$£](?!\p{L})|(?:km/h|km|kg|mg|cm|mm|ml|°C|°F|kWh|kW|MB|GB|TB|GHz|MHz|Hz|EUR|USD|m²|km²|m|g|l)(?![\p{L}\p{N}]))))"},
    SpanPattern{
        SpanKind::kNumber, kDigit,
        R"((?<![\p{L}\p{N}.,])(?:[0-9]{4,6}|[0-9]{1,15}(?:[.,][0-9]{1,15}){1,5})(?![\p{L}\p{N}]|[.,:][0-9]))"},
};

/// Dates with periods or slashes are not protected, since their format depends on the language.
/// "Version 2.9.14" is none.
constexpr const char* kDate =
    R"((?<![\p{L}\p{N}])(?:[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{4}|(?<!(?i:versions?|versión|versiones|versionen|releases?) )[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2})(?![\p{L}\p{N}]|\.[0-9]))";

/// The patterns that begin with one kind of character, as alternatives with one group each; in kDigit, the
/// first is kDate.
class Alternatives {
 public:
  explicit Alternatives(Beginning beginning) : dates_(beginning == kDigit) {
    std::string all = dates_ ? "(" + std::string(kDate) + ")" : "";
    for (const SpanPattern& each : kPatterns) {
      if ((each.beginnings & beginning) == 0) continue;
      all += (all.empty() ? "(" : "|(") + std::string(each.expression) + ")";
      kinds_.push_back(each.kind);
    }
    UErrorCode code = U_ZERO_ERROR;
    UParseError where{};
    pattern_.reset(icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(all), where, code));
    if (U_FAILURE(code)) {
      fail(ErrorKind::kFile, "ICU cannot compile the patterns of protected spans: {} at {}",
           u_errorName(code), where.offset);
    }
  }

  /// Each of the three is compiled once.
  static const Alternatives& at(Beginning beginning) {
    static const Alternatives letter(kLetter), digit(kDigit), other(kOther);
    return beginning == kLetter ? letter : beginning == kDigit ? digit : other;
  }

  const icu::RegexPattern& pattern() const { return *pattern_; }
  /// Of the match of a group; nothing for a date.
  std::optional<SpanKind> kind(int32_t group) const {
    const size_t index = static_cast<size_t>(group) - 1;
    if (!dates_) return kinds_[index];
    return index == 0 ? std::nullopt : std::optional(kinds_[index - 1]);
  }

 private:
  bool dates_;
  std::vector<SpanKind> kinds_;
  std::unique_ptr<const icu::RegexPattern> pattern_;
};

/// Whether any pattern could match: requires a digit, certain punctuation, or a non-Latin character.
bool may_hold_spans(std::string_view text) {
  size_t dots = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (is_ascii_digit(byte)) return true;
    if (std::string_view("@`%${&/\\<>^|~_").find(text[at]) != std::string_view::npos) return true;
    if (at > 0 && is_ascii_upper(byte) && is_ascii_lower(static_cast<unsigned char>(text[at - 1])))
      return true;
    if ((byte == ':' || byte == ';') && at + 1 < text.size() && text[at + 1] != ' ') return true;
    if (byte == '.' && at + 1 < text.size() && text[at + 1] != ' ' && text[at + 1] != '.') ++dots;
    if (byte == 0xC2 && at + 1 < text.size()) {
      const auto next = static_cast<unsigned char>(text[at + 1]);
      if (next >= 0xBC || next == 0xB2 || next == 0xB3 || next == 0xB9) return true;  // fractions, exponents
    }
    if (byte == 0xE2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) != 0x80) return true;
    if (byte > 0xE2) return true;
  }
  return dots > 0;
}

constexpr uint32_t kLettersAndNumbers = U_GC_L_MASK | U_GC_N_MASK;

/// Whether a superscript stands behind a few letters: "mc²".
bool has_exponent(std::string_view text) {
  constexpr size_t kMostLetters = 3;
  size_t at = 0;
  for (size_t n = 0; n <= kMostLetters && at < text.size(); ++n) {
    const char32_t c = next_code_point(text, at);
    if (ascii_of_superscript(c) != '\0') return true;
    if (!u_isalpha(static_cast<UChar32>(c))) return false;
  }
  return false;
}

/// Whether the word at the beginning of a text has a capital behind small letters: "getName", "GitHub".
bool has_inner_capital(std::string_view text) {
  size_t at = is_ascii_upper(static_cast<unsigned char>(text[0])) ? 1 : 0;
  const size_t first = at;
  while (at < text.size() && is_ascii_lower(static_cast<unsigned char>(text[at]))) ++at;
  return at > first && at < text.size() && is_ascii_upper(static_cast<unsigned char>(text[at]));
}

/// Whether a match that begins with this letter is possible: before a space, it has a digit, a capital behind
/// small letters, or one of these marks with more behind it.
bool may_begin_with_letter(std::string_view text) {
  if (has_exponent(text) || has_inner_capital(text)) return true;
  constexpr size_t kFarthest = 400;  // bytes: the dot of a file name, behind 80 characters
  const size_t found = text.substr(0, kFarthest).find_first_of("0123456789.:@&^_- \t\n");
  if (found == std::string_view::npos) return false;
  return is_ascii_digit(text[found]) ||
         (text[found] > ' ' && found + 1 < text.size() && text[found + 1] != ' ');
}

/// Whether a match is like 2.10.3 and v2.10.3, which are versions, or like 2.9.14, which may be one; not like
/// 02.09.14.
bool is_like_version(std::string_view match) {
  if (match.starts_with('v')) match.remove_prefix(1);
  constexpr size_t kMostDigits = 2;  // of the last number
  return std::ranges::count(match, '.') == 2 && match.size() - match.rfind('.') - 1 <= kMostDigits &&
         match[0] != '0' && match.find_first_not_of(".0123456789") == std::string_view::npos;
}

/// Whether the last word of a text stands in front of dates: "am" 2.9.14.
bool ends_in_word_before_dates(std::string_view text) {
  constexpr std::string_view kWords[] = {"am",  "vom", "zum", "bis", "ab", "seit",  "den",   "dem",
                                         "der", "el",  "al",  "del", "on", "since", "until", "from"};
  constexpr size_t kLonger = 8;  // bytes, than any of these: a text without spaces takes linear time
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  text.remove_prefix(text.size() - std::min(text.size(), kLonger));
  const std::string word = ascii_lower(text.substr(text.rfind(' ') + 1));
  return std::ranges::find(kWords, word) != std::end(kWords);
}

/// Matches the patterns at places of one text.
class Places {
 public:
  explicit Places(std::string_view text) : text_(text) {
    UErrorCode code = U_ZERO_ERROR;
    view_.reset(utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &code));
    check(code);
  }

  struct Match {
    size_t end = 0;                     ///< 0: none
    std::optional<SpanKind> kind = {};  ///< none: a date, which is not protected
  };
  Match match(size_t at, Beginning beginning) {
    const Alternatives& alternatives = Alternatives::at(beginning);
    std::unique_ptr<icu::RegexMatcher>& matcher = matchers_[beginning];
    UErrorCode code = U_ZERO_ERROR;
    if (matcher == nullptr) {
      matcher.reset(alternatives.pattern().matcher(code));
      check(code);
      matcher->reset(view_.get());
      matcher->useTransparentBounds(true);  // what is before `at` counts
    }
    matcher->region(static_cast<int64_t>(at), static_cast<int64_t>(text_.size()), code);
    const bool found = matcher->lookingAt(code) != 0;
    if (!found || U_FAILURE(code)) return {};  // a failure: a match longer than ICU's stack
    for (int32_t group = 1; group <= matcher->groupCount(); ++group) {
      if (matcher->start64(group, code) < 0) continue;
      return {static_cast<size_t>(matcher->end64(group, code)), alternatives.kind(group)};
    }
    return {};
  }

 private:
  static void check(UErrorCode code) {
    if (U_FAILURE(code))
      fail(ErrorKind::kText, "cannot find protected spans: ICU reports {}", u_errorName(code));
  }

  std::string_view text_;
  std::unique_ptr<UText, CloseText> view_;
  std::array<std::unique_ptr<icu::RegexMatcher>, kOther + 1> matchers_;  // by Beginning
};

}  // namespace

std::vector<ProtectedSpan> find_span_patterns(std::string_view text) {
  std::vector<ProtectedSpan> spans, versions_or_dates;
  if (!may_hold_spans(text)) return spans;
  Places places(text);
  bool in_word = false, has_version = false;
  for (size_t at = 0; at < text.size();) {
    size_t next = at;
    const char32_t c = next_code_point(text, next);
    const uint32_t category = U_GET_GC_MASK(static_cast<UChar32>(c));
    const bool joins = (category & kLettersAndNumbers) != 0, inside = in_word && joins;
    in_word = joins;
    const Beginning beginning = is_ascii_digit(c) ? kDigit : (category & U_GC_L_MASK) != 0 ? kLetter : kOther;
    const bool possible = !inside && !u_isUWhiteSpace(static_cast<UChar32>(c)) &&
                          (beginning != kLetter || may_begin_with_letter(text.substr(at)));
    const Places::Match match = possible ? places.match(at, beginning) : Places::Match{};
    if (match.end > at) {
      const std::string_view matched = text.substr(at, match.end - at);
      if (match.kind) {
        spans.push_back({at, match.end, *match.kind});
        has_version |= *match.kind == SpanKind::kExact && is_like_version(matched);
      } else if (is_like_version(matched) && !ends_in_word_before_dates(text.substr(0, at))) {
        versions_or_dates.push_back({at, match.end, SpanKind::kExact});
      }
      size_t last = character_start(text, match.end - 1);
      in_word = (U_GET_GC_MASK(static_cast<UChar32>(next_code_point(text, last))) & kLettersAndNumbers) != 0;
      next = match.end;
    }
    at = next;
  }
  if (has_version) {  // "Version 2.10.3 is newer than 2.9.14."
    spans.insert(spans.end(), versions_or_dates.begin(), versions_or_dates.end());
    std::ranges::sort(spans, {}, &ProtectedSpan::begin);
  }
  return spans;
}

}  // namespace heed
