#include "translate/documents/document_segment.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <unordered_map>
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

/// Stops at the first other character, as the text may be long.
bool is_blank(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (!is_whitespace(next_code_point(text, at))) return false;
  }
  return true;
}

bool is_punctuation(std::string_view text, size_t at) {
  return at < text.size() && u_ispunct(static_cast<UChar32>(next_code_point(text, at))) != 0;
}

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
        in_link_(target_words_.size()),
        blocked_(target_words_.size()) {
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
  }

  /// Where each tag goes, in bytes of the translation.
  std::vector<ByteRange> ranges() {
    std::vector<size_t> open;  // the tags that enclose the current one
    const auto around = [&] { return open.empty() ? ByteRange{0, target_.size()} : ranges_[open.back()]; };
    for (size_t n = 0; n < segment_.tags.size(); ++n) {
      const Tag& tag = segment_.tags[n];
      while (!open.empty() && segment_.tags[open.back()].end < std::max(tag.end, tag.begin + 1)) {
        const ByteRange range = ranges_[open.back()];
        open.pop_back();
        block(range, around());
      }
      const ByteRange within = around();
      if (tag.begin == tag.end) {
        const size_t position = std::clamp(position_of(tag.begin), within.first, within.second);
        ranges_.emplace_back(position, position);
        block({position, position}, within);
        continue;
      }
      ranges_.push_back(range_of(n, within, open.empty() ? nullptr : &segment_.tags[open.back()]));
      if (tag.without_text == Tag::WithoutText::kNearest) {
        const auto [begin, end] = ranges_.back();
        for (size_t t = first_word_behind(target_words_, begin);
             t < target_words_.size() && target_words_[t].begin < end; ++t)
          in_link_[t] = true;
      }
      open.push_back(n);
    }
    return std::move(ranges_);
  }

 private:
  // The value of a target word for a tag: linked with its words, not linked, linked with other words only.
  static constexpr int64_t kValue = 5, kUnlinkedCost = 1, kOtherCost = 3;

  /// Whether a tag must have text, or one within it.
  bool needs_text(size_t number) const {
    const std::vector<Tag>& tags = segment_.tags;
    for (size_t n = number; n < tags.size() && tags[n].begin < tags[number].end; ++n) {
      if (tags[n].begin < tags[n].end && tags[n].without_text == Tag::WithoutText::kNearest) return true;
    }
    return false;
  }

  ByteRange range_of(size_t number, ByteRange within, const Tag* parent) {
    const Tag& tag = segment_.tags[number];
    const std::string_view source = segment_.text;
    const size_t parent_begin = parent == nullptr ? 0 : parent->begin;
    const size_t parent_end = parent == nullptr ? source.size() : parent->end;
    if (is_blank(source.substr(parent_begin, tag.begin - parent_begin)) &&
        is_blank(source.substr(tag.end, parent_end - tag.end))) {
      return within;
    }
    const size_t first = first_word_behind(source_words_, tag.begin);
    size_t last = first;
    while (last < source_words_.size() && source_words_[last].begin < tag.end) ++last;
    if (first == last) return {within.first, within.first};
    const ByteRange best = best_run(first, last, within);
    if (best.first >= best.second) {
      const size_t position = std::clamp(position_of(tag.begin), within.first, within.second);
      if (needs_text(number)) return nearest_word(position, within);
      return {position, position};
    }
    size_t begin = std::max(within.first, target_words_[best.first].begin);
    size_t end = std::min(within.second, target_words_[best.second - 1].end);
    // Punctuation and unchanged markup at an end are inside the tag if they are in the source.
    const std::string_view inside = strip(source.substr(tag.begin, tag.end - tag.begin));
    const bool keeps_punctuation =
        inside.empty() || is_punctuation(inside, character_start(inside, inside.size() - 1));
    while (end > begin) {
      const size_t mark = character_start(target_, end - 1), kept = begin_of_kept(begin, end);
      if (!keeps_punctuation && is_punctuation(target_, mark)) {
        end = mark;
      } else if (kept < end && inside.find(target_.substr(kept, end - kept)) == std::string_view::npos) {
        end = kept;
      } else {
        break;
      }
    }
    if (!is_punctuation(inside, 0)) {
      while (begin < end && is_punctuation(target_, begin)) next_code_point(target_, begin);
    }
    return begin < end ? std::pair{begin, end} : std::pair{begin, begin};
  }

  /// The word at a position, else the one before it or the next that is free, without punctuation; nothing if
  /// there is none.
  ByteRange nearest_word(size_t position, ByteRange within) {
    const auto is_free = [&](size_t word) {
      return word < target_words_.size() && within.first <= target_words_[word].begin &&
             target_words_[word].end <= within.second && !blocked_.contains(word) && !in_link_[word];
    };
    const size_t here = first_word_behind(target_words_, position);
    size_t word = here;
    if (!is_free(word) && word > 0) --word;
    if (!is_free(word)) word = blocked_.next_free(here);
    if (!is_free(word)) return {position, position};
    auto [begin, end] = target_words_[word];
    while (end > begin && is_punctuation(target_, character_start(target_, end - 1)))
      end = character_start(target_, end - 1);
    while (begin < end && is_punctuation(target_, begin)) next_code_point(target_, begin);
    return begin < end ? ByteRange{begin, end}
                       : ByteRange{target_words_[word].begin, target_words_[word].end};
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

  /// Later tags do not cross a finished one, unless it takes all that they can have.
  void block(ByteRange range, ByteRange within) {
    if (range.first <= within.first && within.second <= range.second) return;
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

  /// The target position of something at byte `at` of the source: after the translation of the word that ends
  /// there, otherwise before the translation of the next aligned word.
  size_t position_of(size_t at) const {
    if (is_blank(std::string_view(segment_.text).substr(0, at))) return 0;
    const size_t behind = first_word_behind(source_words_, at);
    if (behind > 0 && source_words_[behind - 1].end == at && !targets_[behind - 1].empty()) {
      return target_words_[std::ranges::max(targets_[behind - 1])].end;
    }
    const bool within = behind < source_words_.size() && source_words_[behind].begin < at;
    const size_t next = next_linked_[behind + (within ? 1 : 0)];
    return next < source_words_.size() ? target_words_[std::ranges::min(targets_[next])].begin
                                       : target_.size();
  }

  const Segment& segment_;
  const std::string& target_;
  std::vector<Word> source_words_, target_words_;
  std::vector<std::vector<size_t>> targets_;  // of each source word
  std::vector<int64_t> costs_;       // of the target words before each, if none is linked with the tag
  std::vector<size_t> next_linked_;  // the first linked source word from each on
  std::vector<bool> in_link_;        // target words that a tag has that must have text
  NumberSet blocked_;                // target words of finished tags
  std::vector<ByteRange> ranges_;    // of the tags so far
};

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
      result += escape_(text.substr(done, open - done)) + segment_.kept[found->second].source;
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
  const auto ranges = Placement(segment, translation, links).ranges();
  Writer writer(segment, escape);
  std::string result;
  size_t at = 0;
  const auto write_until = [&](size_t end) {
    result += writer.written(std::string_view(translation).substr(at, end - at));
    at = end;
  };
  std::vector<ByteRange> open;  // tags, and where the result has the text within
  const auto close_until = [&](size_t position, bool strictly) {
    while (!open.empty()) {
      const auto [tag, begin] = open.back();
      const size_t end = ranges[tag].second;
      if (strictly ? end >= position : end > position) break;
      write_until(std::max(at, end));
      result += closing(segment.tags[tag], std::string_view(result).substr(begin));
      open.pop_back();
    }
  };
  // Tags in the order of the translation, outer ones first.
  std::vector<size_t> order;
  for (size_t n = 0; n < ranges.size(); ++n) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(ranges[a].first, std::numeric_limits<size_t>::max() - ranges[a].second) <
           std::pair(ranges[b].first, std::numeric_limits<size_t>::max() - ranges[b].second);
  });
  for (const size_t n : order) {
    close_until(ranges[n].first, false);
    write_until(std::max(at, ranges[n].first));
    const bool single = segment.tags[n].begin == segment.tags[n].end;
    const bool empty = ranges[n].first == ranges[n].second;
    if (!single && empty && segment.tags[n].without_text == Tag::WithoutText::kOmitted) continue;
    result += segment.tags[n].open;
    if (single || empty) {
      result += closing(segment.tags[n], "");
    } else {
      open.emplace_back(n, result.size());
    }
  }
  close_until(translation.size(), false);
  write_until(translation.size());
  return result + writer.missing();
}

}  // namespace heed::translate
