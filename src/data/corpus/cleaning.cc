#include "data/corpus/cleaning.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "base/check.h"
#include "base/text/option_error.h"
#include "text/sentences/language_id.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

/// Whether a character is the Windows-1252 decoding of a UTF-8 continuation byte (0x80 to 0xBF).
bool is_continuation(char32_t c) {
  static constexpr std::u32string_view windows = U"€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ";
  return (c >= 0x80 && c <= 0xBF) || windows.find(c) != std::u32string_view::npos;
}

/// Whether Ã is itself the last letter of a word in capitals before a closing mark, such as in Portuguese
/// "AMANHÃ”" and Vietnamese "ĐÃ…", although Ã and the mark could be the bytes of one letter, Ô or Å. Such a
/// letter would mostly be within a word ("CÃ”TE") or behind a small letter; "à", whose second byte is a
/// no-break space, would be a small letter among capitals. There is no such rule for Â, which ends hardly any
/// word, and is the first byte of the marks and the no-break space themselves.
bool is_capital_before_mark(char32_t before, char32_t mark, std::string_view behind) {
  static constexpr std::u32string_view closing = U"”’…»›–—";
  constexpr char32_t kNoBreakSpace = 0xA0;
  if (u_isupper(static_cast<UChar32>(before)) == 0) return false;
  size_t offset = 0;
  const auto next = static_cast<UChar32>(behind.empty() ? U' ' : next_code_point(behind, offset));
  if (mark == kNoBreakSpace) return u_islower(next) == 0;
  return closing.find(mark) != std::u32string_view::npos && u_isalpha(next) == 0;
}

/// Whether a character is a mark on the letter before it, such as an accent or a vowel sign.
bool is_mark(char32_t c) {
  return (U_GET_GC_MASK(static_cast<UChar32>(c)) & U_GC_M_MASK) != 0;
}

char32_t fold_case(char32_t c) {
  return static_cast<char32_t>(u_foldCase(static_cast<UChar32>(c), U_FOLD_CASE_DEFAULT));
}

/// Hash of a sentence ignoring case and punctuation; empty for fewer than two words. Each letter of a script
/// that is written without spaces between words counts as a word, so that spaces between such letters do not
/// matter either.
std::optional<uint64_t> key_of(std::string_view text) {
  std::string key;
  size_t words = 0;
  bool inside = false, unspaced_before = false;
  for (size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    const bool letter = is_letter_or_digit(c), unspaced = is_unspaced_script(c);
    inside = inside && (letter || is_mark(c));
    if (letter && (!inside || unspaced || unspaced_before)) {
      if (++words > 1) key += ' ';
      inside = true;
    }
    if (inside) append_utf8(key, fold_case(c));
    unspaced_before = unspaced;
  }
  if (words < 2) return std::nullopt;
  Fingerprint fingerprint;
  fingerprint.add(key);
  return fingerprint.value();
}

}  // namespace

bool is_badly_encoded(std::string_view text) {
  char32_t before = 0, before_that = 0;
  for (size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    const bool control = (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0);
    if (control || c == 0xFFFD) return true;
    // Lead bytes of UTF-8 encoded Latin letters and quotation marks, decoded as Latin-1.
    const bool leads = before == 0xC2 || before == 0xC3 || before == 0xE2;
    const bool broken = leads && is_continuation(c) && (before != 0xE2 || c == 0x20AC || c == 0x201A);
    const bool spared = before == 0xC3 && is_capital_before_mark(before_that, c, text.substr(offset));
    if (broken && !spared) return true;
    before_that = before;
    before = c;
  }
  return false;
}

std::string fault_counts_text(const FaultCounts& counts) {
  static constexpr std::array<const char*, kFaults> names{
      "encoding", "too long", "length ratio", "identical", "other language", "held out", "duplicates"};
  std::vector<std::string> parts;
  for (size_t fault = 0; fault < kFaults; ++fault) {
    if (counts[fault] > 0) parts.push_back(fmt::format("{} {}", counts[fault], names[fault]));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Cleaner::Cleaner(const CleaningOptions& options, const LineReaderOptions& lines) : options_(options) {
  for (const std::string* language : {&options.source_language, &options.target_language}) {
    if (!options.drop_other_languages || is_identified_language(*language)) continue;
    fail_option("cleaning.drop_other_languages: {}",
                language->empty() ? option_text("give the languages as $languages, such as de-en")
                                  : fmt::format("the language '{}' cannot be identified", *language));
  }
  Fingerprint files;
  for (const std::string& path : options.held_out) {
    LineReader reader(path, lines);
    for (std::string_view line; reader.next(line);) {
      const size_t tab = line.find('\t');
      const std::string_view first = line.substr(0, tab);
      if (const auto key = key_of(first)) held_out_.insert(*key);
      if (tab == std::string_view::npos) continue;
      const std::string_view rest = line.substr(tab + 1);
      if (const auto key = key_of(rest.substr(0, rest.find('\t')))) held_out_.insert(*key);
    }
    files.add_number(reader.fingerprint().value());
  }
  if (!options.held_out.empty()) held_out_fingerprint_ = files.value();
}

bool Cleaner::is_held_out(std::string_view text) const {
  const auto key = key_of(text);
  return key && held_out_.contains(*key);
}

std::optional<Fault> Cleaner::fault(std::string_view source, std::string_view target) {
  const CleaningOptions& o = options_;
  const auto either = [&](const auto& has) { return has(source) || has(target); };
  if (o.drop_broken_encoding && either(is_badly_encoded)) return Fault::kEncoding;
  const size_t here = count_characters(source), there = count_characters(target);
  const size_t longer = std::max(here, there), shorter = std::min(here, there);
  const auto words = [](std::string_view text) {
    return static_cast<int64_t>(split_whitespace(text).size());
  };
  if (o.max_characters > 0 && longer > static_cast<size_t>(o.max_characters)) return Fault::kLength;
  if (o.max_words > 0 && either([&](auto text) { return words(text) > o.max_words; })) return Fault::kLength;
  const auto least = static_cast<double>(std::max(shorter, CleaningOptions::kRatioFloor));
  if (o.max_length_ratio > 0 && static_cast<double>(longer) > o.max_length_ratio * least)
    return Fault::kRatio;
  if (o.max_identical_words >= 0 && strip(source) == strip(target) && words(source) > o.max_identical_words) {
    return Fault::kIdentical;
  }
  if (o.drop_other_languages && (!other_language(source, o.source_language).empty() ||
                                 !other_language(target, o.target_language).empty())) {
    return Fault::kLanguage;
  }
  if (!held_out_.empty() && either([&](auto text) { return is_held_out(text); })) return Fault::kHeldOut;
  if (o.drop_duplicates) {
    Fingerprint pair;
    pair.add_number(source.size());
    pair.add(source);
    pair.add(target);
    if (!seen_.insert(pair.value()).second) return Fault::kDuplicate;
  }
  return std::nullopt;
}

}  // namespace heed
