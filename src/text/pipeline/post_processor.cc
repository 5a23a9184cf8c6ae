#include "text/pipeline/post_processor.h"

#include <algorithm>
#include <utility>

#include "text/pipeline/aligned_text.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

constexpr char32_t kByteLevelSpace = 0x120;  // "Ġ"

bool is_space(char32_t c) {
  return c == kByteLevelSpace || is_white_space(c);
}

/// The number of code points of a text.
size_t count_code_points(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); next_code_point(text, at)) ++count;
  return count;
}

/// Moves a span past `leading` characters, and its end back by `trailing`, if the text has as many before it.
void shrink(std::string_view text, size_t leading, size_t trailing, std::pair<size_t, size_t>& span) {
  for (; leading > 0 && span.first < span.second; --leading) next_code_point(text, span.first);
  const size_t inside = count_code_points(text.substr(span.first, span.second - span.first));
  if (trailing > inside && trailing > count_code_points(text.substr(0, span.second))) return;
  size_t end = span.first;
  for (size_t kept = inside - std::min(inside, trailing); kept > 0; --kept) next_code_point(text, end);
  span.second = end;
}

void trim_span(std::string_view text, const std::string& token, bool keeps_first_space, bool first,
               std::pair<size_t, size_t>& span) {
  size_t leading = 0, run = 0;
  bool leads = true;
  for (size_t at = 0; at < token.size();) {
    run = is_space(take_code_point(token, at)) ? run + 1 : 0;
    leads &= run > 0;
    leading = leads ? run : leading;
  }
  if (leading == 1 && keeps_first_space && (first || span.first == 0)) leading = 0;
  if (leading > 0 || run > 0) shrink(text, leading, run, span);
}

bool may_begin_or_end_with_space(const std::string& token) {
  const auto plain = [](char c) { return c > ' ' && c < 0x7F; };
  return !token.empty() && (!plain(token.front()) || !plain(token.back()));
}

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// Adds the tokens of a text, which belong to `part`.
void add_text(Encoding text, const TemplatePart& part, Encoding& to) {
  text.types.assign(text.size(), part.type);
  text.sources.assign(text.size(), part.source);
  if (to.size() == 0) {
    text.truncated |= to.truncated;
    to = std::move(text);
    return;
  }
  append(to.ids, text.ids);
  append(to.pieces, text.pieces);
  append(to.spans, text.spans);
  append(to.types, text.types);
  append(to.sources, text.sources);
}

/// Adds special tokens at a place of the text.
void add_special(const TemplatePart& part, size_t at, Encoding& to) {
  append(to.ids, part.ids);
  append(to.pieces, part.tokens);
  to.spans.resize(to.size(), {at, at});
  to.types.resize(to.size(), part.type);
  to.sources.resize(to.size(), -1);
}

}  // namespace

PostProcessor::PostProcessor(std::vector<PostProcessorStep> steps)
    : steps_(std::move(steps)), single_{{.source = 0}}, pair_{{.source = 0}, {.source = 1, .type = 1}} {
  for (const PostProcessorStep& step : steps_) {
    if (!step.single.empty()) single_ = step.single;
    if (!step.pair.empty()) pair_ = step.pair;
  }
}

bool PostProcessor::trims_spans() const {
  return std::ranges::any_of(steps_, &PostProcessorStep::trims_spans);
}

std::vector<int32_t> PostProcessor::frame(bool before) const {
  std::vector<int32_t> ids;
  bool seen = false;
  for (const TemplatePart& part : single_) {
    seen |= part.source >= 0;
    if (part.source < 0 && seen != before) append(ids, part.ids);
  }
  return ids;
}

void PostProcessor::trim(std::string_view text, Encoding& tokens) const {
  for (const PostProcessorStep& step : steps_) {
    if (!step.trims_spans) continue;
    for (size_t n = 0; n < tokens.size(); ++n) {
      if (!may_begin_or_end_with_space(tokens.pieces[n])) continue;
      trim_span(text, tokens.pieces[n], step.keeps_first_space, n == 0, tokens.spans[n]);
    }
  }
}

Encoding PostProcessor::process(TokenizedText first, std::optional<TokenizedText> second,
                                bool specials) const {
  const std::vector<TemplatePart>& order = second ? pair_ : single_;
  const bool with_pieces = first.tokens.pieces.size() == first.tokens.size();
  Encoding all;
  all.truncated = first.tokens.truncated || (second && second->tokens.truncated);
  size_t end = 0;  // of the text before
  for (const TemplatePart& part : order) {
    if (part.source < 0) {
      if (specials) add_special(part, end, all);
      continue;
    }
    TokenizedText& text = part.source == 0 ? first : *second;
    const bool is_used_again = std::ranges::count(order, part.source, &TemplatePart::source) > 1;
    add_text(is_used_again ? Encoding(text.tokens) : std::move(text.tokens), part, all);
    end = text.bytes;
  }
  if (!with_pieces) all.pieces.clear();
  return all;
}

}  // namespace heed
