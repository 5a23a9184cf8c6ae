#include "text/pipeline/words/pattern.h"

#include <oniguruma.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/stop.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/pipeline/words/counted_expression.h"

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

/// A search on its way through the text.
struct Walk {
  uint64_t& left;  // of the budget
  uint64_t weight;
  const OnigUChar* at;
};

constexpr std::string_view kCallout = "heed_count";

/// A callout: takes the way since the last one from the budget. Ends the search where that is used up.
int count_steps(OnigCalloutArgs* args, void* user_data) {
  Walk& walk = *static_cast<Walk*>(user_data);
  const OnigUChar* from = std::exchange(walk.at, onig_get_current_by_callout_args(args));
  const uint64_t ahead = walk.at > from ? static_cast<uint64_t>(walk.at - from) : 0;
  const uint64_t steps = walk.weight * (1 + ahead);
  walk.left -= std::min(steps, walk.left);
  return walk.left > 0 ? ONIG_CALLOUT_SUCCESS : ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER;
}

int initialize_library() {
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  if (const int code = onig_initialize(encodings, 1); code != ONIG_NORMAL) return code;
  std::string name(kCallout);
  auto* begin = reinterpret_cast<OnigUChar*>(name.data());
  const int id =
      onig_set_callout_of_name(ONIG_ENCODING_UTF8, ONIG_CALLOUT_TYPE_SINGLE, begin, begin + name.size(),
                               ONIG_CALLOUT_IN_PROGRESS, count_steps, nullptr, 0, nullptr, 0, nullptr);
  return id < 0 ? id : ONIG_NORMAL;
}

/// Expressions of a tokenizer.json have neither callouts nor absent operators, (?~b), whose steps are not
/// counted.
OnigSyntaxType* known_syntax() {
  static OnigSyntaxType syntax = [] {
    OnigSyntaxType copy;
    onig_copy_syntax(&copy, ONIG_SYNTAX_DEFAULT);
    constexpr unsigned int kUnknown = ONIG_SYN_OP2_QMARK_BRACE_CALLOUT_CONTENTS |
                                      ONIG_SYN_OP2_ASTERISK_CALLOUT_NAME |
                                      ONIG_SYN_OP2_QMARK_TILDE_ABSENT_GROUP;
    onig_set_syntax_op2(&copy, onig_get_syntax_op2(&copy) & ~kUnknown);
    return copy;
  }();
  return &syntax;
}

using CompiledRegex = std::unique_ptr<std::remove_pointer_t<OnigRegex>, void (*)(OnigRegex)>;

/// `expression` is what the error speaks of.
CompiledRegex compile(std::string_view text, std::string_view expression, OnigSyntaxType* syntax) {
  OnigRegex compiled = nullptr;
  OnigErrorInfo info;
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data());
  const int code =
      onig_new(&compiled, begin, begin + text.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, syntax, &info);
  if (code != ONIG_NORMAL) {
    fail(ErrorKind::kFormat, "the regular expression '{}' is invalid: {}", expression,
         message_of(code, &info));
  }
  return {compiled, onig_free};
}

}  // namespace

struct Pattern::Regex {
  std::string expression;
  CountedExpression counted;
  CompiledRegex compiled{nullptr, onig_free};

  explicit Regex(const std::string& text) : expression(text) {
    static std::mutex mutex;  // the library compiles one expression at a time
    const std::lock_guard lock(mutex);
    static const int initialized = initialize_library();
    HEED_CHECK(initialized == ONIG_NORMAL);
    compile(expression, expression, known_syntax());  // only what is valid can be counted
    counted = counted_expression(expression, kCallout);
    compiled = compile(counted.text, expression, ONIG_SYNTAX_DEFAULT);
  }
};

PatternBudget::PatternBudget(size_t bytes)
    : left_(10'000'000 + uint64_t{128} * bytes), outer_(std::exchange(current_budget, this)) {}

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
  // again with more, which are counted. Callouts count how far it reads.
  constexpr uint64_t kFree = 64, kFactor = 4;
  SearchState& state = search_state();
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data());
  const auto* end = begin + text.size();
  const CountedExpression& counted = regex_->counted;
  const uint64_t weight = counted.weight + (counted.reads_text ? text.size() / 64 : 0);
  Walk walk{budget.left_, weight, begin + at};
  onig_set_callout_user_data_of_match_param(state.limits, &walk);
  for (uint64_t retries = kFree; retries > 0; retries = std::min(kFactor * retries, budget.left_ / weight)) {
    StopScope::check();
    onig_set_retry_limit_in_match_of_match_param(state.limits, static_cast<unsigned long>(retries));
    onig_set_retry_limit_in_search_of_match_param(state.limits, static_cast<unsigned long>(retries));
    const int code = onig_search_with_param(regex_->compiled.get(), begin, end, begin + at, end, state.region,
                                            ONIG_OPTION_NONE, state.limits);
    if (code != ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER && code != ONIGERR_RETRY_LIMIT_IN_MATCH_OVER) return code;
    budget.left_ -= std::min(weight * retries, budget.left_);
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
           "the tokenizer's regular expression '{}' takes too many steps in this text; it reads the same "
           "characters again and again: simplify it in tokenizer.json, or give a shorter text",
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
