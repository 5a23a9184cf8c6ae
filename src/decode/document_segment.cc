#include "decode/document_segment.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <limits>

#include "text/utf8.h"
#include "text/whitespace.h"

namespace heed::decode {
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

/// Words [first, last) of a text.
struct Run {
  int first = 0, last = 0;
};

bool is_punctuation(std::string_view text, size_t at) {
  return at < text.size() && u_ispunct(static_cast<UChar32>(next_code_point(text, at))) != 0;
}
size_t previous(std::string_view text, size_t at) {
  do --at;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

/// Puts the tags of one segment into its translation.
class Placement {
 public:
  Placement(const Segment& segment, const std::string& translation, const std::vector<WordLink>& links)
      : segment_(segment),
        target_(translation),
        source_words_(words_of(segment.text)),
        target_words_(words_of(translation)),
        sources_(target_words_.size()) {
    for (const auto& [from, to] : links) {
      if (to >= 0 && static_cast<size_t>(to) < sources_.size())
        sources_[static_cast<size_t>(to)].push_back(from);
    }
  }

  /// Where each tag goes, in bytes of the translation.
  std::vector<std::pair<size_t, size_t>> places() {
    std::vector<std::pair<size_t, size_t>> places;
    std::vector<size_t> open;  // the tags that enclose the current one
    for (size_t n = 0; n < segment_.tags.size(); ++n) {
      const Tag& tag = segment_.tags[n];
      while (!open.empty() && segment_.tags[open.back()].end < std::max(tag.end, tag.begin + 1))
        open.pop_back();
      const std::pair<size_t, size_t> within =
          open.empty() ? std::pair<size_t, size_t>{0, target_.size()} : places[open.back()];
      if (tag.begin == tag.end) {
        const size_t place = std::clamp(place_of(tag.begin), within.first, within.second);
        places.emplace_back(place, place);
        continue;
      }
      places.push_back(range_of(tag, within, open.empty() ? -1 : static_cast<int>(open.back()), places));
      open.push_back(n);
    }
    return places;
  }

 private:
  Run source_run(const Tag& tag) const {
    Run run{static_cast<int>(source_words_.size()), 0};
    for (size_t n = 0; n < source_words_.size(); ++n) {
      if (source_words_[n].end <= tag.begin || source_words_[n].begin >= tag.end) continue;
      run.first = std::min(run.first, static_cast<int>(n));
      run.last = static_cast<int>(n) + 1;
    }
    return run;
  }

  std::pair<size_t, size_t> range_of(const Tag& tag, std::pair<size_t, size_t> within, int parent,
                                     const std::vector<std::pair<size_t, size_t>>& places) const {
    const std::string_view source = segment_.text;
    const size_t parent_begin = parent < 0 ? 0 : segment_.tags[static_cast<size_t>(parent)].begin;
    const size_t parent_end = parent < 0 ? source.size() : segment_.tags[static_cast<size_t>(parent)].end;
    if (strip(source.substr(parent_begin, tag.begin - parent_begin)).empty() &&
        strip(source.substr(tag.end, parent_end - tag.end)).empty()) {
      return within;
    }
    const Run run = source_run(tag);
    if (run.first >= run.last) return {within.first, within.first};
    const Run best = best_run(run, within, places);
    if (best.first >= best.last) {
      const size_t place = std::clamp(place_of(tag.begin), within.first, within.second);
      return {place, place};
    }
    size_t begin = std::max(within.first, target_words_[static_cast<size_t>(best.first)].begin);
    size_t end = std::min(within.second, target_words_[static_cast<size_t>(best.last) - 1].end);
    // Punctuation at an end is inside the tag if it is in the source.
    const std::string_view inside = strip(source.substr(tag.begin, tag.end - tag.begin));
    if (!inside.empty() && !is_punctuation(inside, previous(inside, inside.size()))) {
      while (end > begin && is_punctuation(target_, previous(target_, end))) end = previous(target_, end);
    }
    if (!is_punctuation(inside, 0)) {
      while (begin < end && is_punctuation(target_, begin)) next_code_point(target_, begin);
    }
    return begin < end ? std::pair{begin, end} : std::pair{begin, begin};
  }

  /// The run of target words with the best score: words aligned with `run` count for it, others against it.
  /// It lies within the given bytes and crosses no boundary of an earlier tag.
  Run best_run(Run run, std::pair<size_t, size_t> within,
               const std::vector<std::pair<size_t, size_t>>& places) const {
    Run best;
    double best_sum = 0, sum = 0;
    int first = 0;
    for (int n = 0; n < static_cast<int>(target_words_.size()); ++n) {
      const Word& word = target_words_[static_cast<size_t>(n)];
      const auto crosses = [&](const std::pair<size_t, size_t>& place) {
        const bool around = place.first <= within.first && within.second <= place.second;
        return !around && place.first < word.end && word.begin < place.second;
      };
      if (word.begin < within.first && word.end <= within.first) {
        first = n + 1;
        continue;
      }
      if (word.begin >= within.second) break;
      if (std::any_of(places.begin(), places.end(), crosses)) {
        sum = 0;
        first = n + 1;
        continue;
      }
      sum += value(n, run);
      if (sum > best_sum) {
        best_sum = sum;
        best = {first, n + 1};
      }
      if (sum <= 0) {
        sum = 0;
        first = n + 1;
      }
    }
    return best;
  }

  double value(int target, Run run) const {
    const std::vector<int>& from = sources_[static_cast<size_t>(target)];
    if (from.empty()) return -0.2;
    const bool inside = std::any_of(from.begin(), from.end(),
                                    [&](int source) { return source >= run.first && source < run.last; });
    return inside ? 1 : -0.6;
  }

  /// The target position of something at byte `at` of the source: after the translation of the word that ends
  /// there, otherwise before the translation of the next aligned word.
  size_t place_of(size_t at) const {
    if (strip(std::string_view(segment_.text).substr(0, at)).empty()) return 0;
    for (size_t n = 0; n < source_words_.size(); ++n) {  // directly after a word
      if (source_words_[n].end != at) continue;
      for (size_t t = sources_.size(); t-- > 0;) {
        if (std::ranges::count(sources_[t], static_cast<int>(n)) > 0) return target_words_[t].end;
      }
    }
    for (size_t n = 0; n < source_words_.size(); ++n) {
      if (source_words_[n].begin < at) continue;
      for (size_t t = 0; t < sources_.size(); ++t) {
        if (std::ranges::count(sources_[t], static_cast<int>(n)) > 0) return target_words_[t].begin;
      }
    }
    return target_.size();
  }

  const Segment& segment_;
  const std::string& target_;
  std::vector<Word> source_words_, target_words_;
  std::vector<std::vector<int>> sources_;  // of each target word
};

/// Text between tags, with the unchanged markup (Segment::kept) inserted again.
std::string written(const Segment& segment, std::string_view text, std::vector<bool>& used,
                    const Escape& escape) {
  std::string result;
  while (!text.empty()) {
    size_t place = text.size(), which = 0;
    for (size_t n = 0; n < segment.kept.size(); ++n) {
      const size_t found = used[n] ? std::string_view::npos : text.find(segment.kept[n].text);
      if (found >= place) continue;
      place = found;
      which = n;
    }
    result += escape(text.substr(0, place));
    if (place == text.size()) break;
    result += segment.kept[which].source;
    used[which] = true;
    text.remove_prefix(place + segment.kept[which].text.size());
  }
  return result;
}

}  // namespace

std::string with_markup(const Segment& segment, const std::string& translation,
                        const std::vector<WordLink>& links, const Escape& escape) {
  const auto places = Placement(segment, translation, links).places();
  std::vector<bool> used(segment.kept.size(), false);
  std::string result;
  size_t at = 0;
  const auto write_until = [&](size_t end) {
    result += written(segment, std::string_view(translation).substr(at, end - at), used, escape);
    at = end;
  };
  std::vector<size_t> open;
  const auto close_until = [&](size_t place, bool strictly) {
    while (!open.empty()) {
      const size_t end = places[open.back()].second;
      if (strictly ? end >= place : end > place) break;
      write_until(std::max(at, end));
      result += segment.tags[open.back()].close;
      open.pop_back();
    }
  };
  // Tags in the order of the translation, outer ones first.
  std::vector<size_t> order;
  for (size_t n = 0; n < places.size(); ++n) order.push_back(n);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(places[a].first, std::numeric_limits<size_t>::max() - places[a].second) <
           std::pair(places[b].first, std::numeric_limits<size_t>::max() - places[b].second);
  });
  for (const size_t n : order) {
    close_until(places[n].first, false);
    write_until(std::max(at, places[n].first));
    result += segment.tags[n].open;
    if (segment.tags[n].begin == segment.tags[n].end || places[n].first == places[n].second) {
      result += segment.tags[n].close;
    } else {
      open.push_back(n);
    }
  }
  close_until(translation.size(), false);
  write_until(translation.size());
  for (size_t n = 0; n < segment.kept.size(); ++n) {
    if (!used[n]) result += " " + segment.kept[n].source;  // nothing is lost
  }
  return result;
}

}  // namespace heed::decode
