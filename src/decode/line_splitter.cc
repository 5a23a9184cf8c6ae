#include "decode/line_splitter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed::decode {
namespace {

constexpr size_t kFewestTokens = 8;
/// Text is looked at in windows of so many bytes for each token that a part may have: much more than a token
/// has.
constexpr size_t kBytesPerToken = 32;

/// Languages written without spaces between words.
bool writes_spaces(const std::string& language) {
  static constexpr std::array<std::string_view, 9> kWithout{"zh", "yue", "ja", "th", "lo",
                                                            "km", "my",  "bo", "dz"};
  const std::string_view primary = std::string_view(language).substr(0, language.find_first_of("-_"));
  return std::find(kWithout.begin(), kWithout.end(), primary) == kWithout.end();
}

/// Behind which a sentence can be cut: within it first of all commas and the like. Full-width forms need no
/// space behind them.
bool is_full_width_stop(char32_t c) {
  return std::u32string_view(U"、。，；：！？").find(c) != std::u32string_view::npos;
}
bool is_stop(char32_t c) {
  return is_full_width_stop(c) ||
         std::u32string_view(U".,;:!?…–—)]}»”،؛؟।").find(c) != std::u32string_view::npos;
}

/// Model directories say all kinds of things, and some nothing: then the general rules hold.
SentenceSplitter splitter_for(const std::string& language) {
  try {
    return SentenceSplitter(language);
  } catch (const Error&) {
    return SentenceSplitter("und");
  }
}

size_t character_boundary(std::string_view text, size_t offset) {
  while (offset < text.size() && offset > 0 && (static_cast<unsigned char>(text[offset]) & 0xC0) == 0x80)
    --offset;
  return std::min(offset, text.size());
}

}  // namespace

LineSplitter::LineSplitter(const Tokenizer& tokenizer, const Options& options)
    : tokenizer_(tokenizer),
      options_(options),
      sentence_splitter_(splitter_for(tokenizer.source_language())),
      spaces_between_words_(writes_spaces(tokenizer.target_language())) {
  if (options.most_tokens < kFewestTokens) {
    fail(ErrorKind::kUsage, "parts of {} tokens are too short to translate; at least {} are needed",
         options.most_tokens, kFewestTokens);
  }
}

LineSplitter::Line LineSplitter::read(std::string_view text) const {
  if (!text.starts_with(">>")) return {text, {}};
  const Encoding begin = tokenizer_.encode_source(text.substr(0, text.find("<<") + 2));
  // An ordinary first piece begins with the mark of a space.
  const bool has_code = begin.ids.size() == 2 && begin.pieces[0].starts_with(">>");
  return {text, has_code ? text.substr(0, begin.spans[0].second) : std::string_view{}};
}

Encoding LineSplitter::encode(const Line& line, Range range, size_t most) const {
  const std::string_view part = line.text.substr(range.begin, range.end - range.begin);
  Encoding encoding = tokenizer_.encode_source(std::string(line.code).append(part), {.max_length = most});
  for (auto& [begin, end] : encoding.spans) {
    if (end <= line.code.size() && begin < end) continue;  // the code itself, which is where it was
    begin = begin - std::min(begin, line.code.size()) + range.begin;
    end = end - std::min(end, line.code.size()) + range.begin;
  }
  return encoding;
}

SplitLine LineSplitter::split(std::string_view input) const {
  SplitLine result;
  result.text = replace_invalid_utf8(input);
  const Line line = read(result.text);
  const Range all{line.code.size(), result.text.size()};
  std::vector<Range> ranges;
  const bool short_enough = result.text.size() <= options_.most_tokens * kBytesPerToken &&
                            encode(line, all).ids.size() <= options_.most_tokens;
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
  size_t last_end = 0;
  for (const Range& range : ranges) {
    // Longer than allowed is only a single character that the tokenizer makes so many pieces of.
    Encoding encoding = encode(line, range, options_.most_tokens);
    if (encoding.ids.size() == (line.code.empty() ? 1U : 2U)) continue;  // nothing but the end token
    result.separators.push_back(result.parts.empty() ? "" : separator(result.text, {last_end, range.begin}));
    result.parts.push_back(std::move(encoding));
    last_end = range.end;
  }
  return result;
}

/// Appends the parts of a sentence. Only a window of it is looked at at a time, so the time is linear in its
/// length.
void LineSplitter::add_sentence(const Line& line, Range range, std::vector<Range>& parts) const {
  while (true) {
    const std::string_view rest = strip(line.text.substr(range.begin, range.end - range.begin));
    if (rest.empty()) return;
    range.begin = static_cast<size_t>(rest.data() - line.text.data());
    range.end = range.begin + rest.size();
    Range window = range;
    if (rest.size() > options_.most_tokens * kBytesPerToken) {
      window.end = range.begin + character_boundary(rest, options_.most_tokens * kBytesPerToken);
    }
    const Encoding encoding = encode(line, window);
    const bool fits = encoding.ids.size() <= options_.most_tokens;
    if (fits && window.end == range.end) {
      parts.push_back(range);
      return;
    }
    const size_t end = cut(line, window, encoding);
    // A part alone may be cut into other pieces than in its sentence, and be longer.
    if (end < range.end && encode(line, {range.begin, end}).ids.size() > options_.most_tokens) {
      add_sentence(line, {range.begin, end}, parts);
    } else {
      parts.push_back({range.begin, end});
    }
    range.begin = end;
  }
}

/// Where the part that begins with the window ends.
size_t LineSplitter::cut(const Line& line, Range window, const Encoding& encoding) const {
  const size_t most = options_.most_tokens - 1;  // without the end token
  const size_t limit = encoding.ids.size() > options_.most_tokens ? encoding.spans[most].first : window.end;
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
  for (const size_t place : {behind_stop, at_space, limit}) {
    if (place > window.begin && place < window.end) return place;
  }
  if (limit == window.end) return limit;
  size_t first = window.begin;  // one character of more tokens than a part may have
  next_code_point(line.text, first);
  return first;
}

std::string LineSplitter::separator(std::string_view text, Range gap) const {
  if (!spaces_between_words_) return "";
  if (gap.begin < gap.end) return std::string(text.substr(gap.begin, gap.end - gap.begin));
  const size_t last = character_boundary(text, gap.begin - 1);
  size_t at = last;
  return is_stop(next_code_point(text, at)) ? " " : "";
}

}  // namespace heed::decode
