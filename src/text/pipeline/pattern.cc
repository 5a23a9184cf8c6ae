#include "text/pipeline/pattern.h"

#include <oniguruma.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/tokenizing_stop.h"

namespace heed {
namespace {

std::string message_of(int code, OnigErrorInfo* info = nullptr) {
  OnigUChar text[ONIG_MAX_ERROR_MESSAGE_LEN];
  const int length =
      info != nullptr ? onig_error_code_to_str(text, code, info) : onig_error_code_to_str(text, code);
  return {reinterpret_cast<const char*>(text), static_cast<size_t>(length)};
}

/// What a search needs and leaves behind, for one thread.
struct SearchState {
  OnigRegion* region = onig_region_new();
  OnigMatchParam* limits = onig_new_match_param();
  SearchState() {
    if (region == nullptr || limits == nullptr) throw std::bad_alloc();
    onig_initialize_match_param(limits);
  }
  SearchState(const SearchState&) = delete;
  SearchState& operator=(const SearchState&) = delete;
  ~SearchState() {
    onig_region_free(region, 1);
    onig_free_match_param(limits);
  }
};

SearchState& search_state() {
  static thread_local SearchState state;
  return state;
}

thread_local PatternBudget* current_budget = nullptr;

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

PatternBudget::PatternBudget(size_t bytes)
    : left_(5'000'000 + uint64_t{64} * bytes), outer_(std::exchange(current_budget, this)) {}

PatternBudget::~PatternBudget() {
  current_budget = outer_;
}

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

int Pattern::search(std::string_view text, size_t at, PatternBudget& budget) const {
  // The library does not say how many retries a search took. It begins with few, which are free, and starts
  // again with more, which are counted.
  constexpr uint64_t kFree = 64, kFactor = 4;
  SearchState& state = search_state();
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data());
  const auto* end = begin + text.size();
  for (uint64_t retries = kFree; retries > 0; retries = std::min(kFactor * retries, budget.left_)) {
    TokenizingStop::check();
    onig_set_retry_limit_in_match_of_match_param(state.limits, static_cast<unsigned long>(retries));
    onig_set_retry_limit_in_search_of_match_param(state.limits, static_cast<unsigned long>(retries));
    const int code = onig_search_with_param(regex_->compiled, begin, end, begin + at, end, state.region,
                                            ONIG_OPTION_NONE, state.limits);
    if (code != ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER && code != ONIGERR_RETRY_LIMIT_IN_MATCH_OVER) return code;
    budget.left_ -= std::min(retries, budget.left_);
  }
  return ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
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
  std::optional<PatternBudget> own;
  if (current_budget == nullptr) own.emplace(text.size());
  const OnigRegion& found = *search_state().region;
  for (size_t at = 0; at <= text.size() && !text.empty();) {
    const int code = search(text, at, *current_budget);
    if (code == ONIG_MISMATCH) break;
    if (code == ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER) {
      fail(ErrorKind::kText,
           "the tokenizer's regular expression '{}' takes too many steps in this text; it goes back over the "
           "same characters again and again: simplify it in tokenizer.json, or give a shorter text",
           regex_->expression);
    }
    if (code < 0) {
      fail(ErrorKind::kText, "the tokenizer's regular expression '{}' fails in a text: {}",
           regex_->expression, message_of(code));
    }
    const Match match{static_cast<uint32_t>(found.beg[0]), static_cast<uint32_t>(found.end[0])};
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

std::string Pattern::replaced(std::string_view text, std::string_view by, size_t limit) const {
  std::string result;
  size_t at = 0;
  for (const Match& match : find_in(text)) {
    check_written_bytes(result.size() + (match.begin - at) + by.size(), limit);
    result.append(text.substr(at, match.begin - at)).append(by);
    at = match.end;
  }
  check_written_bytes(result.size() + (text.size() - at), limit);
  return result.append(text.substr(at));
}

}  // namespace heed
