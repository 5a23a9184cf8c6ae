#include "translate/documents/document_segment.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/text/ascii.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

struct Word {
  size_t begin, end;  // bytes
};

std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  for (const std::string_view word : split_whitespace(text)) {
    const auto begin = static_cast<size_t>(word.data() - text.data());
    words.push_back({begin, begin + word.size()});
  }
  return words;
}

using ByteRange = std::pair<size_t, size_t>;

/// Numbers below a size, in runs that are skipped at once.
class NumberSet {
 public:
  explicit NumberSet(size_t size) : next_(size + 1) { std::iota(next_.begin(), next_.end(), size_t{0}); }
  bool contains(size_t number) const { return next_[number] != number; }
  void insert(size_t number) {
    next_[number] = number + 1;
    members_.insert(number);
  }
  /// The first number from `number` on that is not in the set.
  size_t next_free(size_t number) {
    while (next_[number] != number) number = next_[number] = next_[next_[number]];
    return number;
  }
  bool has_any(size_t begin, size_t end) const {
    const auto found = members_.lower_bound(begin);
    return found != members_.end() && *found < end;
  }

 private:
  std::vector<size_t> next_;  // itself for a number that is not in the set
  std::set<size_t> members_;
};

bool is_punctuation(std::string_view text, size_t at) {
  return at < text.size() && u_ispunct(static_cast<UChar32>(next_code_point(text, at))) != 0;
}

/// The most bytes of an entity.
constexpr size_t kLongestEntity = 33;

/// The bytes of an entity at the beginning of a text of Markdown, "&amp;"; 0 if there is none.
size_t entity_size(std::string_view text) {
  if (!text.starts_with('&')) return 0;
  const size_t end = text.substr(0, kLongestEntity).find(';');
  const bool named =
      end != std::string_view::npos && end > 1 && std::ranges::all_of(text.substr(1, end - 1), [](char c) {
        return is_ascii_letter(c) || is_ascii_digit(c) || c == '#';
      });
  return named ? end + 1 : 0;
}

/// Whether a text ends with punctuation that is not part of an entity.
bool ends_with_punctuation(std::string_view text) {
  if (text.empty() || !is_punctuation(text, character_start(text, text.size() - 1))) return false;
  text.remove_prefix(text.size() - std::min(text.size(), kLongestEntity));
  const size_t ampersand = text.ends_with(';') ? text.rfind('&') : std::string_view::npos;
  return ampersand == std::string_view::npos ||
         entity_size(text.substr(ampersand)) != text.size() - ampersand;
}
bool begins_with_punctuation(std::string_view text) {
  return is_punctuation(text, 0) && entity_size(text) == 0;
}

/// A part of a text without the punctuation around it.
ByteRange strip_punctuation(std::string_view text, ByteRange part) {
  auto [begin, end] = part;
  while (ends_with_punctuation(text.substr(begin, end - begin))) end = character_start(text, end - 1);
  while (begins_with_punctuation(text.substr(begin, end - begin))) next_code_point(text, begin);
  return {begin, end};
}

std::string_view first_character(std::string_view text) {
  size_t end = 0;
  if (!text.empty()) next_code_point(text, end);
  return text.substr(0, end);
}
std::string_view last_character(std::string_view text) {
  return text.empty() ? text : text.substr(character_start(text, text.size() - 1));
}

/// Whether a tag whose text begins or ends with `inside`, next to `outside`, keeps a punctuation mark there.
bool keeps_mark(std::string_view mark, std::string_view inside, std::string_view outside) {
  return inside.empty() ||
         (is_punctuation(inside, 0) && (mark == inside || outside.find(mark) == std::string_view::npos));
}

/// Whether a text of a few characters is punctuation.
bool is_short_punctuation(std::string_view text) {
  constexpr size_t kLongest = 16;
  if (text.size() > kLongest) return false;
  for (size_t at = 0; at < text.size();) {
    if (u_ispunct(static_cast<UChar32>(next_code_point(text, at))) == 0) return false;
  }
  return true;
}

/// Where a tag goes.
struct Place {
  ByteRange range;  // bytes of the translation
  size_t around;    // the innermost tag that it lies within; the number of tags if there is none
};

/// Puts the tags of one segment into its translation. Takes time in proportion to the words, tags and links,
/// and for nested tags to their depth.
class Placement {
 public:
  Placement(const Segment& segment, const std::string& translation, const std::vector<WordLink>& links)
      : segment_(segment),
        target_(translation),
        source_words_(words_of(segment.text)),
        target_words_(words_of(translation)),
        targets_(source_words_.size()),
        costs_(target_words_.size() + 1),
        next_linked_(source_words_.size() + 1, source_words_.size()),
        hyperlinks_(segment.tags.size() + 1),
        in_hyperlink_(target_words_.size()),
        blocked_(target_words_.size()),
        parts_(target_words_.size(), {source_words_.size(), 0}) {
    mark_kept_hyperlinks();
    std::vector<bool> linked(target_words_.size());
    for (const auto& [from, to] : links) {
      if (from < 0 || to < 0) continue;
      const auto source = static_cast<size_t>(from), target = static_cast<size_t>(to);
      if (source >= targets_.size() || target >= linked.size()) continue;
      targets_[source].push_back(target);
      linked[target] = true;
    }
    for (size_t t = 0; t < linked.size(); ++t)
      costs_[t + 1] = costs_[t] + (linked[t] ? kOtherCost : kUnlinkedCost);
    for (size_t s = source_words_.size(); s-- > 0;)
      next_linked_[s] = targets_[s].empty() ? next_linked_[s + 1] : s;
    for (size_t n = 0; n < segment.tags.size(); ++n)
      hyperlinks_[n + 1] = hyperlinks_[n] + (is_hyperlink(segment.tags[n]) ? 1 : 0);
  }

  std::vector<Place> places() {
    const std::vector<Tag>& tags = segment_.tags;
    std::vector<Open> open{{tags.size(), {0, target_.size()}, tags.size()}};  // outside of all, then the tags
    for (size_t n = 0; n < tags.size(); ++n) {
      while (open.size() > 1 && open.back().tag + tags[open.back().tag].within < n) close_last(open);
      const Tag& tag = tags[n];
      const Open& around = open.back();
      const ByteRange within = around.range;
      if (tag.begin == tag.end) {
        const size_t position = std::clamp(position_of(tag.begin), within.first, within.second);
        places_.push_back({{position, position}, around.tag});
        continue;
      }
      const bool full = around.has_hyperlink && has_hyperlink(n);
      const ByteRange range = full ? ByteRange{within.second, within.second}
                                   : range_of(n, within, open.size() == 1 ? nullptr : &tags[around.tag]);
      places_.push_back({range, range.first < range.second ? around.inmost : around.tag});
      if (is_hyperlink(tag)) {
        for (size_t t = first_word_behind(target_words_, range.first);
             t < target_words_.size() && target_words_[t].begin < range.second; ++t)
          in_hyperlink_[t] = true;
      }
      open.push_back({n, range, n});
    }
    return std::move(places_);
  }

 private:
  // The value of a target word for a tag: linked with its words, not linked, linked with other words only.
  static constexpr int64_t kValue = 5, kUnlinkedCost = 1, kOtherCost = 3;
  /// Words are compared, and searched for punctuation, up to this number of bytes: they may have many tags.
  static constexpr size_t kLongestWord = 64;

  /// A tag whose end has not been reached.
  struct Open {
    size_t tag;
    ByteRange range;
    /// The tag that later ones in this one lie within: itself, or one in it that encloses all of its text.
    size_t inmost;
    bool has_hyperlink = false;  // whether that one is a hyperlink or has one
  };

  static bool is_hyperlink(const Tag& tag) { return tag.without_text == Tag::WithoutText::kNearest; }
  /// Whether a tag must have text, or one within it; or has a point that is a link.
  bool has_hyperlink(size_t number) const {
    return hyperlinks_[number + segment_.tags[number].within + 1] > hyperlinks_[number];
  }

  /// Later tags do not cross the last one, unless it takes all that they can have: they are within it.
  void close_last(std::vector<Open>& open) {
    const Open last = open.back();
    open.pop_back();
    Open& around = open.back();
    if (last.range.first == last.range.second) return;
    if (last.range != around.range) {
      note_part(segment_.tags[last.tag], last.range);
      return block(last.range);
    }
    around.inmost = last.inmost;
    around.has_hyperlink = around.has_hyperlink || has_hyperlink(last.tag);
  }

  /// Of a finished tag that ends within a word, what it has of the translations of the word.
  void note_part(const Tag& tag, ByteRange range) {
    const size_t source = first_word_behind(source_words_, tag.end);
    if (source == source_words_.size() || source_words_[source].begin >= tag.end) return;
    if (source_words_[source].end - source_words_[source].begin > kLongestWord) return;
    for (const size_t target : targets_[source]) {
      const bool has_part =
          range.first < target_words_[target].end && target_words_[target].begin < range.second;
      if (has_part && !(blocked_.contains(target) && parts_[target].first != source))
        parts_[target] = {source, std::max(parts_[target].second, range.second)};
    }
  }

  /// Unchanged markup with a link is a hyperlink, wherever it is in the translation.
  void mark_kept_hyperlinks() {
    std::unordered_set<std::string_view> texts;
    for (const Segment::Kept& kept : segment_.kept) {
      if (kept.has_link) texts.insert(kept.text);
    }
    if (texts.empty()) return;
    const std::string_view target = target_;
    for (size_t open = target.find('`'); open != std::string_view::npos;) {
      const size_t close = target.find('`', open + 1);
      if (close == std::string_view::npos) break;
      if (texts.contains(target.substr(open, close + 1 - open)))
        in_hyperlink_[first_word_behind(target_words_, open)] = true;
      open = close;
    }
  }

  /// A part of the translation; of one with words of hyperlinks, its longest run of other words, or nothing
  /// at its end.
  ByteRange without_hyperlinks(ByteRange range) const {
    ByteRange longest{range.second, range.second};
    size_t most = 0, run = 0, words = 0;
    for (size_t t = first_word_behind(target_words_, range.first);
         t < target_words_.size() && target_words_[t].begin < range.second; ++t) {
      ++words;
      run = in_hyperlink_[t] ? 0 : run + 1;
      if (run <= most) continue;
      most = run;
      longest = {std::max(range.first, target_words_[t + 1 - run].begin),
                 std::min(range.second, target_words_[t].end)};
    }
    return most == words ? range : longest;
  }

  ByteRange range_of(size_t number, ByteRange within, const Tag* parent) {
    const Tag& tag = segment_.tags[number];
    const std::string_view source = segment_.text;
    const size_t parent_begin = parent == nullptr ? 0 : parent->begin;
    const size_t parent_end = parent == nullptr ? source.size() : parent->end;
    if (is_blank(parent_begin, tag.begin) && is_blank(tag.end, parent_end))
      return is_hyperlink(tag) ? without_hyperlinks(within) : within;
    const size_t first = first_word_behind(source_words_, tag.begin);
    size_t last = first;
    while (last < source_words_.size() && source_words_[last].begin < tag.end) ++last;
    if (first == last) return {within.first, within.first};
    const ByteRange same = part_of_same_word(first, tag, within);
    if (same.first < same.second) return same;
    const ByteRange best = best_run(first, last, within);
    if (best.first >= best.second) {
      const size_t position = std::clamp(position_of(tag.begin), within.first, within.second);
      if (has_hyperlink(number)) return nearest_word(position, within);
      return {position, position};
    }
    const ByteRange words{std::max(within.first, target_words_[best.first].begin),
                          std::min(within.second, target_words_[best.second - 1].end)};
    const ByteRange free = is_hyperlink(tag) ? without_hyperlinks(words) : words;
    const bool begins_within =
        free == words && source_words_[first].begin < tag.begin && is_same_word(first, best.first);
    const bool ends_within =
        free == words && tag.end < source_words_[last - 1].end && is_same_word(last - 1, best.second - 1);
    size_t begin =
        begins_within ? std::max(free.first, in_same_word(first, best.first, tag.begin)) : free.first;
    size_t end =
        ends_within ? std::min(free.second, in_same_word(last - 1, best.second - 1, tag.end)) : free.second;
    // Punctuation and unchanged markup at an end are inside the tag if they are in the source.
    const std::string_view inside = strip(source.substr(tag.begin, tag.end - tag.begin)), target = target_;
    // The rest of its words.
    const size_t rest =
        std::clamp(source_words_[first].begin, tag.begin - std::min(tag.begin, kLongestWord), tag.begin);
    const std::string_view before = source.substr(rest, tag.begin - rest);
    const size_t end_of_words = std::clamp(source_words_[last - 1].end, tag.end, tag.end + kLongestWord);
    const std::string_view behind = source.substr(tag.end, end_of_words - tag.end);
    const auto part = [&] { return target.substr(begin, end - begin); };
    while (end > begin && !ends_within) {
      const size_t kept = begin_of_kept(begin, end);
      if (ends_with_punctuation(part()) &&
          !keeps_mark(last_character(part()), last_character(inside), behind)) {
        end = character_start(target, end - 1);
      } else if (kept < end && inside.find(target.substr(kept, end - kept)) == std::string_view::npos) {
        end = begin + strip_right(target.substr(begin, kept - begin)).size();
      } else {
        break;
      }
    }
    while (!begins_within && begins_with_punctuation(part()) &&
           !keeps_mark(first_character(part()), first_character(inside), before)) {
      next_code_point(target, begin);
    }
    return {begin, std::max(begin, end)};
  }

  /// The same part of a word, for a tag that begins and ends in one that stays; else nothing. Other tags may
  /// have other parts of it.
  ByteRange part_of_same_word(size_t source, const Tag& tag, ByteRange within) const {
    const Word& word = source_words_[source];
    const bool is_part = word.begin <= tag.begin && tag.end <= word.end &&
                         tag.end - tag.begin < word.end - word.begin && word.end - word.begin <= kLongestWord;
    if (!is_part) return {};
    for (const size_t target : targets_[source]) {
      if (!is_same_word(source, target)) continue;
      const ByteRange part{in_same_word(source, target, tag.begin), in_same_word(source, target, tag.end)};
      const auto& [parts_of, parts_end] = parts_[target];
      const bool is_free = !blocked_.contains(target) || (parts_of == source && parts_end <= part.first);
      if (is_free && within.first <= part.first && part.second <= within.second) return part;
    }
    return {};
  }

  /// A position in a word, in a target word that is the same.
  size_t in_same_word(size_t source, size_t target, size_t at) const {
    return target_words_[target].begin + (at - source_words_[source].begin);
  }

  /// Whether a source word and a target word are linked and the same.
  bool is_same_word(size_t source, size_t target) const {
    const Word &from = source_words_[source], &to = target_words_[target];
    return from.end - from.begin <= kLongestWord && std::ranges::count(targets_[source], target) > 0 &&
           std::string_view(segment_.text).substr(from.begin, from.end - from.begin) ==
               std::string_view(target_).substr(to.begin, to.end - to.begin);
  }

  /// The word at a position, else the one before it or the next that is free, without punctuation; nothing if
  /// there is none.
  ByteRange nearest_word(size_t position, ByteRange within) {
    const auto is_free = [&](size_t word) {
      return word < target_words_.size() && within.first <= target_words_[word].begin &&
             target_words_[word].end <= within.second && !blocked_.contains(word) && !in_hyperlink_[word];
    };
    const size_t here = first_word_behind(target_words_, position);
    size_t word = here;
    if (!is_free(word) && word > 0) --word;
    if (!is_free(word)) word = blocked_.next_free(here);
    if (!is_free(word)) return {position, position};
    return without_punctuation(target_words_[word]);
  }

  /// Where the unchanged markup (Segment::kept) begins that ends at `end` of the translation; else `end`.
  size_t begin_of_kept(size_t begin, size_t end) const {
    if (target_[end - 1] != '`' || end < begin + 2) return end;
    const size_t open = target_.rfind('`', end - 2);
    const bool kept = open != std::string::npos && open >= begin && target_[open + 1] == 'x';
    return kept ? open : end;
  }

  /// The target words [first, second) with the best value for the source words [first, last). They lie within
  /// the given bytes and contain no blocked word.
  ByteRange best_run(size_t first, size_t last, ByteRange within) const {
    std::vector<size_t> linked;
    for (size_t s = first; s < last; ++s) linked.insert(linked.end(), targets_[s].begin(), targets_[s].end());
    std::ranges::sort(linked);
    linked.erase(std::unique(linked.begin(), linked.end()), linked.end());
    ByteRange best;
    int64_t best_sum = 0, sum = 0;
    size_t begin = 0, end = 0;  // the run up to here, whose value is `sum`
    for (const size_t t : linked) {
      const Word& word = target_words_[t];
      if (word.end <= within.first) continue;
      if (word.begin >= within.second) break;
      if (blocked_.contains(t)) continue;
      if (sum > 0) sum -= costs_[t] - costs_[end];
      if (sum <= 0 || blocked_.has_any(end, t)) {
        sum = 0;
        begin = t;
      }
      sum += kValue;
      end = t + 1;
      if (sum > best_sum) {
        best_sum = sum;
        best = {begin, end};
      }
    }
    return best;
  }

  /// Later tags do not have these bytes.
  void block(ByteRange range) {
    size_t t = blocked_.next_free(first_word_behind(target_words_, range.first));
    for (; t < target_words_.size() && target_words_[t].begin < range.second; t = blocked_.next_free(t))
      blocked_.insert(t);
  }

  /// The first word that ends behind a byte.
  static size_t first_word_behind(const std::vector<Word>& words, size_t at) {
    const auto found =
        std::partition_point(words.begin(), words.end(), [&](const Word& word) { return word.end <= at; });
    return static_cast<size_t>(found - words.begin());
  }

  /// Whether bytes of the source have no part of a word.
  bool is_blank(size_t begin, size_t end) const {
    const size_t word = first_word_behind(source_words_, begin);
    return begin >= end || word == source_words_.size() || source_words_[word].begin >= end;
  }

  /// The target position of something at byte `at` of the source: in or behind the translation of the word
  /// that it is in or directly behind, otherwise before the translation of the next aligned word.
  size_t position_of(size_t at) const {
    if (is_blank(0, at)) return 0;
    size_t word = first_word_behind(source_words_, at);
    const bool within = word < source_words_.size() && source_words_[word].begin < at;
    const bool behind = !within && source_words_[word - 1].end == at;
    if (behind) --word;
    if (!within && !behind) {
      const size_t next = next_linked_[word];
      return next < source_words_.size() ? target_words_[first_target(next)].begin : target_.size();
    }
    if (!targets_[word].empty()) return position_at(word, at);
    const size_t next = next_linked_[word];
    if (next == source_words_.size()) return target_.size();
    const size_t target = first_target(next);
    return target > 0 ? target_words_[target - 1].end : target_words_[target].begin;
  }

  /// The target position of something at byte `at` in or directly behind an aligned word, of which it is
  /// separated by the same punctuation.
  size_t position_at(size_t word, size_t at) const {
    const auto [begin, end] = source_words_[word];
    const std::string_view source = segment_.text;
    const Word &first = target_words_[first_target(word)],
               &last = target_words_[std::ranges::max(targets_[word])];
    const std::string_view translation =
        std::string_view(target_).substr(first.begin, last.end - first.begin);
    if (end - begin <= kLongestWord && translation == source.substr(begin, end - begin))
      return first.begin + (at - begin);
    if (at < end && is_short_punctuation(source.substr(begin, at - begin)))
      return without_punctuation(first).first;
    return at < end && is_short_punctuation(source.substr(at, end - at)) ? without_punctuation(last).second
                                                                         : last.end;
  }

  size_t first_target(size_t word) const { return std::ranges::min(targets_[word]); }

  /// A target word without the punctuation around it; all of a word that has nothing else.
  ByteRange without_punctuation(const Word& word) const {
    const ByteRange inner = strip_punctuation(target_, {word.begin, word.end});
    return inner.first < inner.second ? inner : ByteRange{word.begin, word.end};
  }

  const Segment& segment_;
  const std::string& target_;
  std::vector<Word> source_words_, target_words_;
  std::vector<std::vector<size_t>> targets_;  // of each source word
  std::vector<int64_t> costs_;       // of the target words before each, if none is linked with the tag
  std::vector<size_t> next_linked_;  // the first linked source word from each on
  std::vector<size_t> hyperlinks_;   // the number of hyperlinks among the tags before each
  std::vector<bool> in_hyperlink_;   // target words of hyperlinks so far, and of unchanged markup with one
  NumberSet blocked_;                // target words of finished tags
  // Of target words of finished tags that end within a source word: this one, and the end of what they have.
  std::vector<std::pair<size_t, size_t>> parts_;
  std::vector<Place> places_;  // of the tags so far
};

/// The tags directly in each tag, and last those outside of all, in the order in which they are written.
/// Those without text move out of the others, to the side on which they are in the source.
std::vector<std::vector<size_t>> arranged(std::vector<Place>& places, size_t size) {
  std::vector<std::vector<size_t>> inner(places.size() + 1);
  for (size_t n = 0; n < places.size(); ++n) inner[places[n].around].push_back(n);
  const auto arrange = [&](std::vector<size_t>& tags, ByteRange within) {
    const auto begin = [&](size_t n) { return places[n].range.first; };
    std::vector<size_t> with_text;
    for (const size_t n : tags) {
      ByteRange& range = places[n].range;
      range = {std::clamp(range.first, within.first, within.second),
               std::clamp(range.second, within.first, within.second)};
      if (range.first < range.second) with_text.push_back(n);
    }
    std::ranges::sort(with_text, {}, begin);
    for (const size_t n : tags) {
      const size_t at = begin(n);
      const auto next = std::ranges::upper_bound(with_text, at, {}, begin);
      if (at < places[n].range.second || next == with_text.begin()) continue;
      const size_t other = *std::prev(next);
      const auto [first, second] = places[other].range;
      if (at >= second) continue;
      const size_t side = n < other ? first : second;
      places[n].range = {side, side};
    }
    std::ranges::sort(tags, {}, [&](size_t n) { return std::pair(places[n].range, n); });
  };
  arrange(inner.back(), {0, size});
  for (size_t n = 0; n < places.size(); ++n) arrange(inner[n], places[n].range);
  return inner;
}

/// Writes text between tags, with the unchanged markup (Segment::kept) inserted again.
class Writer {
 public:
  Writer(const Segment& segment, const Escape& escape)
      : segment_(segment), escape_(escape), used_(segment.kept.size()) {
    for (size_t n = 0; n < segment.kept.size(); ++n) by_text_.emplace(segment.kept[n].text, n);
  }

  std::string written(std::string_view text) {
    std::string result;
    size_t done = 0;
    for (size_t open = text.find('`'); open != std::string_view::npos;) {
      const size_t close = text.find('`', open + 1);
      if (close == std::string_view::npos) break;
      const auto found = by_text_.find(text.substr(open, close + 1 - open));
      if (found == by_text_.end() || used_[found->second]) {
        open = close;  // which may begin another
        continue;
      }
      const Segment::Kept& kept = segment_.kept[found->second];
      std::string_view before = text.substr(done, open - done);
      if (kept.ends_word) before = strip_right(before);
      result += escape_(before) + kept.source;
      used_[found->second] = true;
      done = close + 1;
      open = text.find('`', done);
    }
    return result + escape_(text.substr(done));
  }

  /// What the translation lacks: nothing is lost.
  std::string missing() const {
    std::string result;
    for (size_t n = 0; n < used_.size(); ++n) {
      if (!used_[n]) result += " " + segment_.kept[n].source;
    }
    return result;
  }

 private:
  const Segment& segment_;
  const Escape& escape_;
  std::unordered_map<std::string_view, size_t> by_text_;
  std::vector<bool> used_;
};

/// The closing part of a tag whose text was written so.
const std::string& closing(const Tag& tag, std::string_view text) {
  return tag.named.empty() || text == tag.named ? tag.close : tag.close_of_other;
}

bool is_omitted(const Tag& tag, ByteRange range) {
  return tag.without_text == Tag::WithoutText::kOmitted && tag.begin < tag.end && range.first == range.second;
}

}  // namespace

bool is_translatable(std::string_view text) {
  if (has_letter(text)) return true;
  for (size_t n = 1; n + 1 < text.size(); ++n) {
    if ((text[n] == '.' || text[n] == ',') && is_ascii_digit(text[n - 1]) && is_ascii_digit(text[n + 1]))
      return true;
  }
  return false;
}

std::string with_markup(const Segment& segment, const std::string& translation,
                        const std::vector<WordLink>& links, const Escape& escape) {
  std::vector<Place> places = Placement(segment, translation, links).places();
  const std::vector<std::vector<size_t>> inner = arranged(places, translation.size());
  Writer writer(segment, escape);
  std::string result;
  size_t at = 0;
  const auto write_until = [&](size_t end) {
    if (end <= at) return;
    result += writer.written(std::string_view(translation).substr(at, end - at));
    at = end;
  };
  struct Open {
    size_t tag, next, begin;  // the next tag in it, and where the result has the text within
  };
  std::vector<Open> open{{places.size(), 0, 0}};  // the text, then the open tags
  while (true) {
    if (open.back().next < inner[open.back().tag].size()) {
      const size_t n = inner[open.back().tag][open.back().next++];
      write_until(places[n].range.first);
      if (!is_omitted(segment.tags[n], places[n].range)) result += segment.tags[n].open;
      open.push_back({n, 0, result.size()});
      continue;
    }
    const auto [n, next, begin] = open.back();
    open.pop_back();
    if (open.empty()) break;
    write_until(places[n].range.second);
    if (is_omitted(segment.tags[n], places[n].range)) continue;
    result += closing(segment.tags[n], std::string_view(result).substr(begin));
  }
  write_until(translation.size());
  return result + writer.missing();
}

}  // namespace heed::translate
