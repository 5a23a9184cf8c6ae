#include "translate/parts/line_splitter.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/sentences/language_codes.h"
#include "text/terms/placeholder_piece.h"
#include "text/tokenizers/numbered_pieces.h"
#include "text/unicode/true_case.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"
#include "translate/values/write_value.h"

namespace heed::translate {
namespace {

/// Of things in order that do not overlap each other, those that overlap [begin, end). A long line has many.
template <typename Thing>
std::span<const Thing> overlapping(const std::vector<Thing>& things, size_t begin, size_t end) {
  const auto first =
      std::ranges::partition_point(things, [&](const Thing& each) { return each.end <= begin; });
  const auto last =
      std::partition_point(first, things.end(), [&](const Thing& each) { return each.begin < end; });
  return {first, last};
}

constexpr size_t kMinTokens = 8;
/// A constrained search for more or longer spans than these takes too long: the sentence is split around
/// them.
constexpr size_t kMaxRequiredSpans = 8, kMaxRequiredBytes = 400;
/// Window size in bytes per token of a part: much more than the size of a token.
constexpr size_t kBytesPerToken = 32;

/// Characters after which a sentence may be split; full-width ones need no following space.
bool is_full_width_stop(char32_t c) {
  return std::u32string_view(U"、。，；：！？").find(c) != std::u32string_view::npos;
}
bool is_stop(char32_t c) {
  return is_full_width_stop(c) ||
         std::u32string_view(U".,;:!?…–—)]}»”،؛؟।").find(c) != std::u32string_view::npos;
}

/// Unknown or missing languages use the general rules.
SentenceSplitter splitter_for(const std::string& language) {
  try {
    return SentenceSplitter(language_tag(language));
  } catch (const Error&) {
    return SentenceSplitter("und");
  }
}

bool has_ignorable(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    // Each of these characters begins with one of these bytes.
    if ((at = text.find_first_of("\xC2\xE2\xEF", at)) == std::string_view::npos) return false;
    if (is_ignorable(next_code_point(text, at))) return true;
  }
  return false;
}

/// Whether a span is a bar between titles or cells: "Home | News".
bool is_divider(std::string_view text, const ProtectedSpan& span) {
  const std::string_view bars = text.substr(span.begin, span.end - span.begin);
  if (bars.find_first_not_of('|') != std::string_view::npos) return false;
  size_t before = span.begin > 0 ? character_start(text, span.begin - 1) : 0, behind = span.end;
  return (span.begin == 0 || is_whitespace(next_code_point(text, before))) &&
         (span.end == text.size() || is_whitespace(next_code_point(text, behind)));
}

}  // namespace

LineSplitter::LineSplitter(const TranslationTokenizer& tokenizer, const Options& options)
    : tokenizer_(tokenizer),
      options_(options),
      sentence_splitter_(splitter_for(tokenizer.source_language())),
      target_spacing_(spacing_of_language(tokenizer.target_language())) {
  if (options.max_part_tokens < kMinTokens) {
    fail(ErrorKind::kUsage, "a maximum of {} tokens per part is too small; give at least {}",
         options.max_part_tokens, kMinTokens);
  }
  if (options_.protect) marks_ = static_cast<size_t>(placeholder_pieces(tokenizer_));
}

LineSplitter::Range LineSplitter::without_spaces(std::string_view text, Range range) {
  const std::string_view inner = strip(text.substr(range.begin, range.end - range.begin));
  if (inner.empty()) return {range.begin, range.begin};
  range.begin = static_cast<size_t>(inner.data() - text.data());
  return {range.begin, range.begin + inner.size()};
}

LineSplitter::Line LineSplitter::read(std::string_view text) const {
  const std::string_view code = leading_marian_code(text);
  if (code.empty()) return {.text = text, .spacing = target_spacing_};
  const Encoding begin = tokenizer_.encode_source(code);
  // An ordinary first piece begins with the space marker.
  const bool has_code = begin.ids.size() == 2 && is_marian_language_code(begin.pieces[0]);
  if (!has_code) return {.text = text, .spacing = target_spacing_};
  return {.text = text,
          .code = text.substr(0, begin.spans[0].second),
          .spacing = spacing_of_language(std::string(language_of_marian_code(begin.pieces[0])))};
}

struct LineSplitter::Rewritten {
  std::string text;
  std::vector<size_t> origin;  // empty if the text is unchanged
  std::vector<RequiredText> marked, unmarked;
  std::vector<std::pair<size_t, size_t>> marked_source, unmarked_source;
  std::vector<std::string> marks;
  bool capitals = false;

  void append(std::string_view more, size_t from) {
    text += more;
    for (size_t n = 0; n < more.size(); ++n) origin.push_back(from + n);
  }
  /// Without the characters that the model does not read.
  void append_without_ignorable(std::string_view more, size_t from) {
    for (size_t at = 0; at < more.size();) {
      const size_t begin = at;
      if (!is_ignorable(next_code_point(more, at))) append(more.substr(begin, at - begin), from + begin);
    }
  }
  /// For replaced text: all its bytes map to the beginning of the original.
  void append_instead(std::string_view more, size_t from) {
    text += more;
    origin.insert(origin.end(), more.size(), from);
  }
};

/// Uses the form of each word with fewer tokens, which was more frequent in training. `seen`: the text, from
/// append_without_ignorable().
void LineSplitter::append_true_case(const Rewritten& seen, Rewritten& result) const {
  const std::string_view text = seen.text;
  bool begins = result.text.empty();
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const auto is_letter = [&](size_t offset) {
      return u_isalpha(static_cast<UChar32>(next_code_point(text, offset))) != 0;
    };
    const bool word = is_letter(at);
    while (at < text.size() && is_letter(at) == word) next_code_point(text, at);
    const std::string_view run = text.substr(begin, at - begin);
    if (!word) {
      result.text += run;
      result.origin.insert(result.origin.end(), seen.origin.begin() + static_cast<int64_t>(begin),
                           seen.origin.begin() + static_cast<int64_t>(at));
      if (run.find_first_of(".!?") != std::string_view::npos) begins = true;
      continue;
    }
    const WordForms forms = forms_of(run);
    const bool capital = begins || tokenizer_.encode_source(forms.capitalized).ids.size() <
                                       tokenizer_.encode_source(forms.lower).ids.size();
    result.append_instead(capital ? forms.capitalized : forms.lower, seen.origin[begin]);
    begins = false;
  }
}

LineSplitter::Rewritten LineSplitter::rewrite(const Line& line, Range range) const {
  Rewritten result;
  const std::string_view part = line.text.substr(range.begin, range.end - range.begin);
  std::string outside;  // text outside of protected spans
  size_t at = range.begin;
  std::vector<ProtectedSpan> inside;
  for (const ProtectedSpan& span : overlapping(line.spans, range.begin, range.end)) {
    if (span.begin < at || span.end > range.end) continue;
    inside.push_back(span);
    outside += line.text.substr(at, span.begin - at);
    at = span.end;
  }
  outside += line.text.substr(at, range.end - at);
  const bool true_case = options_.true_case && tokenizer_.true_case_capitals();
  result.capitals = true_case && is_all_capitals(outside);
  const bool changed_case = result.capitals || (true_case && is_title_case(outside));

  at = range.begin;
  const auto add_text = [&](size_t end) {
    const std::string_view text = line.text.substr(at, end - at);
    if (changed_case) {
      Rewritten seen;
      seen.append_without_ignorable(text, at);
      append_true_case(seen, result);
    } else if (line.has_ignorable) {
      result.append_without_ignorable(text, at);
    } else {
      result.append(text, at);
    }
    at = end;
  };
  for (const ProtectedSpan& span : inside) {
    const std::string_view text = line.text.substr(span.begin, span.end - span.begin);
    add_text(span.begin);
    if (is_verbatim(span.kind) && result.marks.size() < marks_) {
      const std::string mark = placeholder_piece(static_cast<int>(result.marks.size()));
      result.append_instead(mark, span.begin);
      result.marks.push_back(mark);
      result.marked.push_back({std::string(text), span.kind});
      result.marked_source.emplace_back(span.begin, span.end);
    } else {
      result.append(text, span.begin);
      result.unmarked.push_back({std::string(text), span.kind});
      result.unmarked_source.emplace_back(span.begin, span.end);
    }
    at = span.end;
  }
  add_text(range.end);
  for (const Glossary::Match& term : overlapping(line.terms, range.begin, range.end)) {
    const bool overlaps = std::any_of(inside.begin(), inside.end(), [&](const ProtectedSpan& span) {
      return span.begin < term.end && term.begin < span.end;
    });
    if (term.begin >= range.begin && term.end <= range.end && !overlaps) {
      result.unmarked.push_back({term.target, SpanKind::kTerm});
      result.unmarked_source.emplace_back(term.begin, term.end);
    }
  }
  if (result.text == part) {
    result.origin.clear();
  } else {
    result.origin.push_back(range.end);
  }
  return result;
}

LinePart LineSplitter::encode(const Line& line, Range range, size_t most) const {
  Rewritten rewritten;
  const std::string_view text = line.text.substr(range.begin, range.end - range.begin);
  const bool plain = line.spans.empty() && line.terms.empty() && !line.has_ignorable &&
                     !(options_.true_case && (is_all_capitals(text) || is_title_case(text)));
  if (plain) {
    rewritten.text = text;
  } else {
    rewritten = rewrite(line, range);
  }
  LinePart result;
  static_cast<Encoding&>(result) =
      tokenizer_.encode_source(std::string(line.code).append(rewritten.text), {.max_length = most});
  for (auto& [begin, end] : result.spans) {
    if (end <= line.code.size() && begin < end) continue;  // the language code itself
    const auto origin = [&](size_t byte) {
      byte -= std::min(byte, line.code.size());
      return rewritten.origin.empty() ? byte + range.begin : rewritten.origin[byte];
    };
    begin = origin(begin);
    end = origin(end);
  }
  result.required = std::move(rewritten.marked);
  result.required.insert(result.required.end(), rewritten.unmarked.begin(), rewritten.unmarked.end());
  result.required_source = std::move(rewritten.marked_source);
  result.required_source.insert(result.required_source.end(), rewritten.unmarked_source.begin(),
                                rewritten.unmarked_source.end());
  result.marks = std::move(rewritten.marks);
  result.capitals = rewritten.capitals;
  return result;
}

/// Whether there are tokens besides the special ones and the language code.
bool LineSplitter::has_text(const Line& line, const Encoding& part) const {
  return part.ids.size() > tokenizer_.tokens_around_source() + (line.code.empty() ? 0 : 1);
}

/// Whether the model can generate a text, without unknown tokens and without other digits: most tokenizers
/// write "10⁶" as "106".
bool LineSplitter::target_can_hold(std::string_view text) const {
  const Encoding encoding = tokenizer_.encode_target(text);
  if (std::ranges::count(encoding.ids, tokenizer_.unknown_id()) > 0) return false;
  const auto digits = [](std::string_view each) {
    return std::ranges::count_if(each, [](char c) { return is_ascii_digit(static_cast<unsigned char>(c)); });
  };
  return digits(tokenizer_.decode(encoding.ids)) == digits(text);
}

/// The text of a range without the spans that are copied.
std::string LineSplitter::outside_of_spans(const Line& line, Range range) {
  std::string outside;
  size_t at = range.begin;
  for (const ProtectedSpan& span : overlapping(line.spans, range.begin, range.end)) {
    if (!is_verbatim(span.kind)) continue;
    if (span.begin > at) outside += line.text.substr(at, span.begin - at);
    at = span.end;
  }
  if (at < range.end) outside += line.text.substr(at, range.end - at);
  return outside;
}

/// Whether a range has protected spans and no other words.
bool LineSplitter::holds_only_spans(const Line& line, Range range) {
  const std::string outside = outside_of_spans(line, range);
  return outside.size() < range.end - range.begin && !has_letter_or_digit(outside);
}

/// Whether a range has no letter or digit and no glossary term.
bool LineSplitter::is_copied(const Line& line, Range range) const {
  if (!options_.copy_wordless) return false;
  return overlapping(line.terms, range.begin, range.end).empty() &&
         !has_letter_or_digit(line.text.substr(range.begin, range.end - range.begin));
}

/// A range of nothing but numbers, in the target language.
std::optional<std::string> LineSplitter::only_numbers(const Line& line, Range range) const {
  constexpr size_t kLongest = 40;  // bytes
  if (options_.source_values == nullptr || options_.target_values == nullptr) return std::nullopt;
  if (range.end - range.begin > kLongest || !overlapping(line.terms, range.begin, range.end).empty())
    return std::nullopt;
  return rewrite_numbers(line.text.substr(range.begin, range.end - range.begin), *options_.source_values,
                         *options_.target_values);
}

/// Splits at spans that the model can neither generate nor replace by placeholders, at those beyond
/// kMaxRequiredSpans, at bars between titles, and at all where there are only numbers besides.
std::vector<LineSplitter::Range> LineSplitter::cut_around_literals(const Line& line, Range range) const {
  std::vector<Range> ranges;
  size_t marks = 0, required = 0;
  const std::string outside = outside_of_spans(line, range);
  const bool only_numbers = has_letter_or_digit(outside) && !has_letter(outside);
  for (const ProtectedSpan& span : overlapping(line.spans, range.begin, range.end)) {
    if (span.begin < range.begin || span.end > range.end || !is_verbatim(span.kind)) continue;
    const std::string_view text = line.text.substr(span.begin, span.end - span.begin);
    const bool divides = only_numbers || is_divider(line.text, span);
    if (!divides && marks++ < marks_) continue;
    const bool fits = required < kMaxRequiredSpans && text.size() <= kMaxRequiredBytes;
    if (!divides && fits && target_can_hold(text)) {
      ++required;
      continue;
    }
    if (span.begin > range.begin) ranges.push_back({range.begin, span.begin});
    ranges.push_back({span.begin, span.end});
    range.begin = span.end;
  }
  if (range.begin < range.end) ranges.push_back(range);
  return ranges;
}

SplitLine LineSplitter::split(std::string_view input, const std::vector<Glossary::Match>* terms) const {
  SplitLine result;
  result.text = replace_invalid_utf8(input);
  tokenizer_.require_language_code(result.text);
  Line line = read(result.text);
  line.has_ignorable = has_ignorable(result.text);
  if (options_.protect) line.spans = find_protected_spans(result.text);
  if (terms != nullptr) {
    line.terms = *terms;
  } else if (options_.glossary != nullptr) {
    line.terms = options_.glossary->find(result.text);
  }
  const Range all{line.code.size(), result.text.size()};
  size_t last_end = 0;
  const auto add = [&](LinePart part, Range range) {
    result.separators.push_back(result.parts.empty() ? "" : separator(line, {last_end, range.begin}));
    result.parts.push_back(std::move(part));
    last_end = range.end;
  };
  const auto add_literal = [&](Range range, std::string text) {
    LinePart part;
    part.literal = std::move(text);
    part.spans = {{range.begin, range.end}};
    add(std::move(part), range);
  };
  const auto add_copy = [&](Range range) {
    range = without_spaces(line.text, range);
    if (range.begin == range.end) return;
    add_literal(range, std::string(line.text.substr(range.begin, range.end - range.begin)));
  };
  if (is_copied(line, all)) {
    add_copy(all);
    return result;
  }
  std::vector<Range> ranges;
  const bool short_enough = result.text.size() <= options_.max_part_tokens * kBytesPerToken &&
                            encode(line, all).ids.size() <= options_.max_part_tokens;
  if (short_enough && !options_.split_sentences) {
    ranges.push_back(all);
  } else {
    const SplitText split = sentence_splitter_.split(std::string_view(result.text).substr(all.begin));
    size_t at = all.begin;
    for (size_t n = 0; n < split.sentences.size(); ++n) {
      at += split.separators[n].size();
      add_sentence(line, {at, at + split.sentences[n].size()}, ranges);
      at += split.sentences[n].size();
    }
  }
  for (const Range& whole : ranges) {
    if (is_copied(line, whole)) {
      add_copy(whole);
      continue;
    }
    const Range text = without_spaces(line.text, whole);
    if (auto numbers = only_numbers(line, text)) {
      add_literal(text, std::move(*numbers));
      continue;
    }
    if (line.spans.empty()) {
      // Only a single character can exceed the limit: the tokenizer encodes it as more tokens than allowed.
      LinePart part = encode(line, whole, options_.max_part_tokens);
      if (has_text(line, part)) add(std::move(part), whole);
      continue;
    }
    for (const Range& cut : cut_around_literals(line, whole)) {
      const Range range = without_spaces(line.text, cut);
      const std::string_view words = line.text.substr(range.begin, range.end - range.begin);
      // Spans alone, or text without a letter or digit, are copied.
      if (holds_only_spans(line, range) ||
          (cut.end - cut.begin < whole.end - whole.begin && !has_letter_or_digit(words))) {
        add_copy(range);
        continue;
      }
      if (auto numbers = only_numbers(line, range)) {
        add_literal(range, std::move(*numbers));
        continue;
      }
      LinePart part = encode(line, range, options_.max_part_tokens);
      if (has_text(line, part)) add(std::move(part), range);
    }
  }
  return result;
}

/// Where a span that is copied begins, if it goes on behind a window; else the window's end.
size_t LineSplitter::begin_of_cut_span(const Line& line, Range window) {
  const auto at_end = overlapping(line.spans, window.end - 1, window.end);
  const bool cut = !at_end.empty() && is_verbatim(at_end.front().kind) && at_end.front().end > window.end;
  return cut ? std::max(at_end.front().begin, window.begin) : window.end;
}

/// Appends the parts of a sentence. Works on a window at a time, so the time is linear in the length.
void LineSplitter::add_sentence(const Line& line, Range range, std::vector<Range>& parts) const {
  while (true) {
    const std::string_view rest = strip(line.text.substr(range.begin, range.end - range.begin));
    if (rest.empty()) return;
    range.begin = static_cast<size_t>(rest.data() - line.text.data());
    range.end = range.begin + rest.size();
    Range window = range;
    if (rest.size() > options_.max_part_tokens * kBytesPerToken) {
      window.end = range.begin + character_start(rest, options_.max_part_tokens * kBytesPerToken);
    }
    // A span that is copied is not cut by the window's end: a part ends before it, or it is one of its own.
    const size_t cut = window.end < range.end ? begin_of_cut_span(line, window) : window.end;
    if (cut == window.begin) {
      const size_t end = overlapping(line.spans, cut, cut + 1).front().end;
      parts.push_back({range.begin, std::min(end, range.end)});
      range.begin = parts.back().end;
      continue;
    }
    const bool before_span = cut < window.end;
    window.end = cut;
    const LinePart encoding = encode(line, window);
    const bool fits = encoding.ids.size() <= options_.max_part_tokens;
    if (fits && (window.end == range.end || before_span)) {
      parts.push_back(window);
      range.begin = window.end;
      continue;
    }
    const size_t end = split_point(line, window, encoding);
    // A part by itself may be tokenized differently than in its sentence, into more tokens.
    if (end < range.end && encode(line, {range.begin, end}).ids.size() > options_.max_part_tokens) {
      add_sentence(line, {range.begin, end}, parts);
    } else {
      parts.push_back({range.begin, end});
    }
    range.begin = end;
  }
}

/// The end of the part that begins at the window.
size_t LineSplitter::split_point(const Line& line, Range window, const Encoding& encoding) const {
  const size_t most = options_.max_part_tokens - 1;  // without the end token
  const size_t limit =
      encoding.ids.size() > options_.max_part_tokens ? encoding.spans[most].first : window.end;
  const size_t half = encoding.spans[std::min(most, encoding.ids.size() - 1) / 2].first;
  size_t behind_stop = 0, at_space = 0;
  for (size_t at = half; at < limit;) {
    const size_t begin = at;
    const char32_t c = next_code_point(line.text, at);
    size_t next = at;
    const bool space_follows = at < line.text.size() && is_whitespace(next_code_point(line.text, next));
    if (is_whitespace(c)) at_space = begin;
    if (at <= limit && is_stop(c) && (space_follows || is_full_width_stop(c))) behind_stop = at;
  }
  for (const size_t position : {behind_stop, at_space, limit}) {
    if (position > window.begin && position < window.end) return position;
  }
  if (limit == window.end) return limit;
  size_t first = window.begin;  // a single character with more tokens than the maximum
  next_code_point(line.text, first);
  return first;
}

std::string LineSplitter::separator(const Line& line, Range gap) const {
  const std::string_view text = line.text;
  const auto near = overlapping(line.spans, gap.begin - 1, gap.end + 1);
  const bool at_span = std::ranges::any_of(
      near, [&](const ProtectedSpan& span) { return span.end == gap.begin || span.begin == gap.end; });
  const std::string_view between = text.substr(gap.begin, gap.end - gap.begin);
  if (at_span) return std::string(between);
  size_t at = character_start(text, gap.begin - 1);
  const char32_t last = next_code_point(text, at);
  const bool within_clause = u_isalnum(static_cast<UChar32>(last)) != 0;
  if (line.spacing == Spacing::kNone || (line.spacing == Spacing::kSentences && within_clause)) return "";
  if (!between.empty()) return std::string(between);
  return is_stop(last) ? " " : "";
}

}  // namespace heed::translate
