#include "text/pipeline/pattern.h"

#include <oniguruma.h>

#include <mutex>
#include <utility>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"

namespace heed {
namespace {

std::string message_of(int code, OnigErrorInfo* info = nullptr) {
  OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int length =
      info != nullptr ? onig_error_code_to_str(text, code, info) : onig_error_code_to_str(text, code);
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(length)};
}

struct Region {
  OnigRegion* region = onig_region_new();
  Region() = default;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  ~Region() { onig_region_free(region, 1); }
};

}  // namespace

struct Pattern::Regex {
  std::string expression;
  OnigRegex compiled = nullptr;

  explicit Regex(const std::string& text) : expression(text) {
    static std::mutex mutex;  // the library compiles one expression at a time
    const std::lock_guard lock(mutex);
    static const int initialized = [] {
      OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
      return onig_initialize(encodings, 1);
    }();
    HEED_CHECK(initialized == ONIG_NORMAL);
    OnigErrorInfo info;
    const auto* begin = reinterpret_cast<const OnigUChar*>(expression.data());
    const int code = onig_new(&compiled, begin, begin + expression.size(), ONIG_OPTION_NONE,
                              ONIG_ENCODING_UTF8, ONIG_SYNTAX_DEFAULT, &info);
    if (code != ONIG_NORMAL) {
      fail(ErrorKind::kFormat, "the regular expression '{}' is invalid: {}", expression,
           message_of(code, &info));
    }
  }
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;
  ~Regex() { onig_free(compiled); }
};

Pattern Pattern::literal(std::string text) {
  HEED_CHECK(!text.empty());
  Pattern pattern;
  pattern.text_ = std::move(text);
  return pattern;
}

Pattern Pattern::regex(const std::string& expression) {
  HEED_CHECK(!expression.empty());
  Pattern pattern;
  pattern.regex_ = std::make_shared<const Regex>(expression);
  return pattern;
}

std::vector<Match> Pattern::find_in(std::string_view text) const {
  std::vector<Match> matches;
  if (!regex_) {
    for (size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, at)) {
      const size_t begin = std::exchange(at, at + text_.size());
      matches.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(at)});
    }
    return matches;
  }
  static thread_local Region found;
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data());
  const auto* end = begin + text.size();
  for (size_t at = 0; at <= text.size() && !text.empty();) {
    const int code =
        onig_search(regex_->compiled, begin, end, begin + at, end, found.region, ONIG_OPTION_NONE);
    if (code == ONIG_MISMATCH) break;
    if (code < 0) {
      fail(ErrorKind::kText, "the tokenizer's regular expression '{}' fails in a text: {}",
           regex_->expression, message_of(code));
    }
    const Match match{static_cast<uint32_t>(found.region->beg[0]),
                      static_cast<uint32_t>(found.region->end[0])};
    // An empty match directly after another match does not count.
    if (match.begin == match.end && !matches.empty() && matches.back().end == match.end) {
      if (match.end == text.size()) break;
      at = match.end + length_of_character(text[match.end]);
      continue;
    }
    at = match.end;
    matches.push_back(match);
  }
  return matches;
}

std::string Pattern::replaced(std::string_view text, std::string_view by) const {
  std::string result;
  size_t at = 0;
  for (const Match& match : find_in(text)) {
    result.append(text.substr(at, match.begin - at)).append(by);
    at = match.end;
  }
  return result.append(text.substr(at));
}

}  // namespace heed
