#include "text/sentences/sentence_splitter.h"

#include <unicode/brkiter.h>
#include <unicode/utext.h>

#include <limits>

#include "base/check.h"
#include "text/sentences/sentence_rules.h"
#include "text/unicode/close_text.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

void expect_success(UErrorCode code, std::string_view action) {
  if (U_FAILURE(code)) {
    fail(ErrorKind::kFile, "cannot {}: ICU reports {}; check that its data is installed", action,
         u_errorName(code));
  }
}

/// Collects the sentences of a text from ICU's segments.
class Sentences {
 public:
  struct Span {
    size_t begin, end;
  };

  Sentences(std::string_view text, const SentenceRules& rules) : text_(text), rules_(rules) {}

  /// Adds an ICU segment, which may contain several sentences.
  void add_divided(size_t begin, size_t end) {
    const std::string_view sentence = text_.substr(begin, end - begin);
    for (size_t at = 0; at < sentence.size();) {
      const size_t next = rules_.after_ellipsis(sentence, at);
      add(begin + at, begin + next);
      at = next;
    }
  }

  /// Adds a sentence, or extends the last one.
  void add(size_t begin, size_t end) {
    const std::string_view sentence = strip(text_.substr(begin, end - begin));
    if (sentence.empty()) return;
    begin = static_cast<size_t>(sentence.data() - text_.data());
    end = begin + sentence.size();
    if (!spans_.empty()) {
      Span& last = spans_.back();
      const std::string_view separator = text_.substr(last.end, begin - last.end);
      if (rules_.belong_together({text_.substr(last.begin, last.end - last.begin), separator, sentence})) {
        last.end = end;
        return;
      }
      if (const size_t emojis = leading_emojis(sentence);
          emojis > 0 && separator.find_first_of("\n\r") == std::string_view::npos) {
        last.end = begin + emojis;
        return add(last.end, end);
      }
    }
    spans_.push_back({begin, end});
  }

  const std::vector<Span>& spans() const { return spans_; }

 private:
  std::string_view text_;
  const SentenceRules& rules_;
  std::vector<Span> spans_;
};

}  // namespace

struct SentenceSplitter::Implementation {
  std::unique_ptr<icu::BreakIterator> prototype;  // an iterator is not thread-safe, so each split copies it
  SentenceRules rules;
};

SentenceSplitter::SentenceSplitter(const std::string& language) {
  UErrorCode code = U_ZERO_ERROR;
  const icu::Locale locale = icu::Locale::forLanguageTag(language, code);
  const bool undetermined = language == "und";  // BCP 47's undetermined language, an empty name in ICU
  if (U_FAILURE(code) || locale.isBogus() || (*locale.getLanguage() == '\0' && !undetermined)) {
    fail(ErrorKind::kUsage, "\"{}\" is not a language code, such as de or pt-BR", language);
  }
  std::unique_ptr<icu::BreakIterator> prototype(icu::BreakIterator::createSentenceInstance(locale, code));
  expect_success(code, "create a sentence splitter");
  implementation_ = std::make_unique<const Implementation>(
      Implementation{std::move(prototype), SentenceRules(locale.getLanguage())});
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
  Sentences sentences(text, implementation_->rules);
  if (is_one_sentence(text)) {
    sentences.add(0, text.size());
  } else {
    UErrorCode code = U_ZERO_ERROR;
    const std::unique_ptr<UText, CloseText> view(
        utext_openUTF8(nullptr, text.data(), static_cast<int64_t>(text.size()), &code));
    expect_success(code, "read text");
    const std::unique_ptr<icu::BreakIterator> breaks(implementation_->prototype->clone());
    breaks->setText(view.get(), code);
    expect_success(code, "read text");
    for (int32_t begin = breaks->first(), end = breaks->next(); end != icu::BreakIterator::DONE;
         begin = end, end = breaks->next()) {
      sentences.add_divided(static_cast<size_t>(begin), static_cast<size_t>(end));
    }
  }

  SplitText result;
  size_t separator_begin = 0;
  for (const auto& span : sentences.spans()) {
    result.separators.emplace_back(text.substr(separator_begin, span.begin - separator_begin));
    result.sentences.emplace_back(text.substr(span.begin, span.end - span.begin));
    separator_begin = span.end;
  }
  result.separators.emplace_back(text.substr(separator_begin));
  return result;
}

}  // namespace heed
