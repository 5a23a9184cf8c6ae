#include "text/sentence_splitter.h"

#include <unicode/brkiter.h>
#include <unicode/uchar.h>
#include <unicode/ures.h>
#include <unicode/utext.h>

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include "base/check.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed {
namespace {

void expect_success(UErrorCode code, std::string_view action) {
  if (U_FAILURE(code)) {
    fail(ErrorKind::kFile, "cannot {}: ICU says {}; is its data installed?", action, u_errorName(code));
  }
}

struct CloseText {
  void operator()(UText* text) const { utext_close(text); }
};
struct CloseBundle {
  void operator()(UResourceBundle* bundle) const { ures_close(bundle); }
};
using Bundle = std::unique_ptr<UResourceBundle, CloseBundle>;

/// The abbreviations that CLDR lists for a language, with their periods (none for most languages), and a few
/// that stand before names in many. ICU's own filter for them is not used: it also takes them for the ends of
/// longer words ("Häuser." for "r.").
std::unordered_set<std::string> read_abbreviations(const char* language) {
  UErrorCode code = U_ZERO_ERROR;
  Bundle rules(ures_openDirect(U_ICUDATA_NAME "-brkitr", language, &code));
  Bundle exceptions(ures_getByKey(rules.get(), "exceptions", nullptr, &code));
  Bundle list(ures_getByKey(exceptions.get(), "SentenceBreak", nullptr, &code));
  std::unordered_set<std::string> abbreviations{"Dr.", "Prof.", "Mr.", "Mrs.", "Ms.", "St.", "cf.", "vs."};
  if (U_FAILURE(code)) return abbreviations;
  for (int32_t n = 0; n < ures_getSize(list.get()); ++n) {
    const icu::UnicodeString text = icu::ures_getUnicodeStringByIndex(list.get(), n, &code);
    std::string abbreviation;
    if (U_SUCCESS(code)) abbreviations.insert(text.toUTF8String(abbreviation));
  }
  return abbreviations;
}

/// Languages that write "3." for "third".
bool writes_ordinals_with_period(std::string_view language) {
  constexpr std::array<std::string_view, 20> kLanguages{"bs", "cs", "da", "de", "et", "fi", "fo",
                                                        "hr", "hu", "is", "lb", "lv", "nb", "nn",
                                                        "no", "pl", "sk", "sl", "sr", "tr"};
  return std::find(kLanguages.begin(), kLanguages.end(), language) != kLanguages.end();
}

/// The last word, without marks before it such as an opening bracket.
std::string_view last_word(std::string_view sentence) {
  size_t begin = 0;
  for (size_t offset = 0; offset < sentence.size();) {
    if (is_whitespace(next_code_point(sentence, offset))) begin = offset;
  }
  std::string_view word = sentence.substr(begin);
  for (size_t offset = 0; offset < word.size();) {
    const size_t start = offset;
    if (u_isalnum(static_cast<UChar32>(next_code_point(word, offset)))) return word.substr(start);
  }
  return {};
}

/// "J.", "z.B.", "U.S.A.": each letter with a period.
bool is_letters_with_periods(std::string_view word) {
  size_t offset = 0;
  while (offset < word.size()) {
    if (!u_isalpha(static_cast<UChar32>(next_code_point(word, offset)))) return false;
    if (offset == word.size() || word[offset++] != '.') return false;
  }
  return !word.empty();
}

/// "1." to "99.": larger numbers are rather years, which end sentences.
bool is_small_ordinal(std::string_view word) {
  if (word.size() < 2 || word.size() > 3 || word.back() != '.') return false;
  word.remove_suffix(1);
  return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool begins_in_lower_case(std::string_view sentence) {
  size_t offset = 0;
  return u_islower(static_cast<UChar32>(next_code_point(sentence, offset)));
}

}  // namespace

struct SentenceSplitter::Implementation {
  std::unique_ptr<icu::BreakIterator>
      prototype;  // one iterator serves one text at a time, so each split copies it
  std::unordered_set<std::string> abbreviations;
  bool ordinals_with_period = false;

  /// Whether ICU's boundary between two neighbours is none.
  bool belong_together(std::string_view sentence, std::string_view separator, std::string_view next) const {
    if (separator.find_first_of("\n\r") != std::string_view::npos) return false;
    if (begins_in_lower_case(next)) return true;
    const std::string_view word = last_word(sentence);
    return is_letters_with_periods(word) || (ordinals_with_period && is_small_ordinal(word)) ||
           abbreviations.count(std::string(word)) > 0;
  }
};

SentenceSplitter::SentenceSplitter(const std::string& language) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Locale locale = icu::Locale::forLanguageTag(language, code);
  const bool undetermined = language == "und";  // BCP 47's word for it, an empty one to ICU
  if (U_FAILURE(code) || locale.isBogus() || (*locale.getLanguage() == '\0' && !undetermined)) {
    fail(ErrorKind::kUsage, "\"{}\" is not a language code, such as de or pt-BR", language);
  }
  std::unique_ptr<icu::BreakIterator> prototype(icu::BreakIterator::createSentenceInstance(locale, code));
  expect_success(code, "make a sentence splitter");
  implementation_ = std::make_unique<const Implementation>(
      Implementation{std::move(prototype), read_abbreviations(locale.getLanguage()),
                     writes_ordinals_with_period(locale.getLanguage())});
}

SentenceSplitter::~SentenceSplitter() = default;
SentenceSplitter::SentenceSplitter(SentenceSplitter&&) noexcept = default;
SentenceSplitter& SentenceSplitter::operator=(SentenceSplitter&&) noexcept = default;

SplitText SentenceSplitter::split(std::string_view text) const {
  if (const auto offset = find_invalid_utf8(text)) {
    fail(ErrorKind::kText, "the text to split is not valid UTF-8 at byte {}", *offset);
  }
  if (text.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    fail(ErrorKind::kText, "a text of {} bytes is too long to split at once", text.size());
  }
  UErrorCode code = U_ZERO_ERROR;
  const std::unique_ptr<UText, CloseText> view(
      utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &code));
  expect_success(code, "read text");
  const std::unique_ptr<icu::BreakIterator> breaks(implementation_->prototype->clone());
  breaks->setText(view.get(), code);
  expect_success(code, "read text");

  struct Span {
    size_t begin, end;
  };
  std::vector<Span> spans;
  std::string_view last;  // what ICU took for the sentence before
  for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
       begin = end, end = breaks->next()) {
    const std::string_view sentence =
        strip(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
    if (sentence.empty()) continue;
    const auto sentence_begin = static_cast<size_t>(sentence.data() - text.data());
    const size_t last_end = spans.empty() ? 0 : spans.back().end;
    const std::string_view separator = text.substr(last_end, sentence_begin - last_end);
    if (spans.empty() || !implementation_->belong_together(last, separator, sentence)) {
      spans.push_back({sentence_begin, 0});
    }
    spans.back().end = sentence_begin + sentence.size();
    last = sentence;
  }

  SplitText result;
  size_t separator_begin = 0;
  for (const Span& span : spans) {
    result.separators.emplace_back(text.substr(separator_begin, span.begin - separator_begin));
    result.sentences.emplace_back(text.substr(span.begin, span.end - span.begin));
    separator_begin = span.end;
  }
  result.separators.emplace_back(text.substr(separator_begin));
  return result;
}

std::string join_sentences(const std::vector<std::string>& sentences,
                           const std::vector<std::string>& separators) {
  HEED_CHECK(separators.size() == sentences.size() + 1);
  std::string text = separators[0];
  for (size_t n = 0; n < sentences.size(); ++n) text += sentences[n] + separators[n + 1];
  return text;
}

}  // namespace heed
