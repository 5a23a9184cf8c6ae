#include "metrics/alignment_score.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/check.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

struct ParsedLink {
  WordLink link;
  char mark = '-';
};

/// Parses two numbers separated by one of `marks`.
ParsedLink parse_link(std::string_view text, std::string_view marks, const std::string& origin) {
  ParsedLink parsed;
  const char* end = text.data() + text.size();
  const auto source = std::from_chars(text.data(), end, parsed.link.first);
  bool good = source.ec == std::errc() && source.ptr != end && marks.find(*source.ptr) != marks.npos;
  if (good) {
    parsed.mark = *source.ptr;
    const auto target = std::from_chars(source.ptr + 1, end, parsed.link.second);
    good = target.ec == std::errc() && target.ptr == end;
  }
  if (!good || parsed.link.first < 0 || parsed.link.second < 0) {
    fail(ErrorKind::kFormat,
         "{}: '{}' is not a word link; links are written 0-2 (source word 0, target word 2){}", origin, text,
         marks.size() > 1 ? ", possible links 0?2 or 0p2" : "");
  }
  return parsed;
}

void sort_once(std::vector<WordLink>& links) {
  std::sort(links.begin(), links.end());
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

int64_t common(const std::vector<WordLink>& a, const std::vector<WordLink>& b) {
  std::vector<WordLink> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return static_cast<int64_t>(both.size());
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

}  // namespace

std::vector<WordLink> parse_alignment(std::string_view line, const std::string& origin) {
  std::vector<WordLink> links;
  for (const std::string_view each : split_whitespace(line))
    links.push_back(parse_link(each, "-", origin).link);
  sort_once(links);
  return links;
}

GoldAlignment parse_gold_alignment(std::string_view line, const std::string& origin) {
  GoldAlignment gold;
  for (const std::string_view each : split_whitespace(line)) {
    const ParsedLink parsed = parse_link(each, "-?p", origin);
    if (parsed.mark == '-') gold.sure.push_back(parsed.link);
    gold.possible.push_back(parsed.link);
  }
  sort_once(gold.sure);
  sort_once(gold.possible);
  return gold;
}

void require_words(const std::vector<WordLink>& links, size_t source_words, size_t target_words,
                   const std::string& origin) {
  for (const auto& [source, target] : links) {
    if (static_cast<size_t>(source) < source_words && static_cast<size_t>(target) < target_words) continue;
    fail(ErrorKind::kFormat,
         "{}: the link {}-{} is out of range for {} source and {} target words; words are separated by white "
         "space and counted from 0",
         origin, source, target, source_words, target_words);
  }
}

void AlignmentScore::add(const std::vector<WordLink>& scored, const GoldAlignment& gold) {
  links += static_cast<int64_t>(scored.size());
  sure += static_cast<int64_t>(gold.sure.size());
  sure_found += common(scored, gold.sure);
  possible_found += common(scored, gold.possible);
}

double AlignmentScore::precision() const {
  return ratio(static_cast<double>(possible_found), static_cast<double>(links));
}

double AlignmentScore::recall() const {
  return ratio(static_cast<double>(sure_found), static_cast<double>(sure));
}

double AlignmentScore::f1() const {
  return ratio(2 * precision() * recall(), precision() + recall());
}

double AlignmentScore::error_rate() const {
  if (links + sure == 0) return 0;
  return 1 - static_cast<double>(sure_found + possible_found) / static_cast<double>(links + sure);
}

}  // namespace heed
