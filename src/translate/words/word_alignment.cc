#include "translate/words/word_alignment.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/check.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::translate {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";

// Tuned on the pairs of tests/data. Jumps by d source words: log p = -0.2 |d - 1|, with a limit for long
// jumps; and the constant added to every weight before taking the logarithm.
constexpr double kJumpCost = 0.2, kLongestJump = 5, kMinWeight = 0.01;

using TokensOfWord = std::map<int, std::vector<int64_t>>;

TokensOfWord tokens_of(const std::vector<int>& words) {
  TokensOfWord tokens;
  for (size_t n = 0; n < words.size(); ++n) tokens[words[n]].push_back(static_cast<int64_t>(n));
  tokens.erase(kMark);
  return tokens;
}

/// Column normalization: alignment(t, s) / sum over t of alignment(t, s), over the tokens of words, since
/// source tokens with attention from all target tokens are uninformative.
std::vector<double> normalized_columns(const SoftAlignment& alignment, const std::vector<int>& target_words) {
  std::vector<double> sums(static_cast<size_t>(alignment.sources));
  for (int64_t t = 0; t < alignment.targets; ++t) {
    if (target_words[static_cast<size_t>(t)] == kNoWord) continue;
    for (int64_t s = 0; s < alignment.sources; ++s)
      sums[static_cast<size_t>(s)] += static_cast<double>(alignment.at(t, s));
  }
  std::vector<double> weights;
  for (int64_t t = 0; t < alignment.targets; ++t) {
    for (int64_t s = 0; s < alignment.sources; ++s) {
      const double sum = sums[static_cast<size_t>(s)];
      weights.push_back(sum > 0 ? static_cast<double>(alignment.at(t, s)) / sum : 0);
    }
  }
  return weights;
}

/// Marks punctuation tokens of words with other tokens as kMark.
void set_marks_apart(std::vector<int>& words, const std::vector<bool>& marks) {
  std::set<int> with_letters;
  for (size_t n = 0; n < words.size(); ++n) {
    if (!marks[n]) with_letters.insert(words[n]);
  }
  for (size_t n = 0; n < words.size(); ++n) {
    if (words[n] >= 0 && marks[n] && with_letters.contains(words[n])) words[n] = kMark;
  }
}

}  // namespace

std::vector<WordLink> word_alignment(const SoftAlignment& alignment, const std::vector<int>& source_words,
                                     const std::vector<int>& target_words) {
  HEED_CHECK(static_cast<int64_t>(source_words.size()) == alignment.sources);
  HEED_CHECK(static_cast<int64_t>(target_words.size()) == alignment.targets);
  TokensOfWord sources = tokens_of(source_words), targets = tokens_of(target_words);
  const std::vector<int64_t> no_word = std::exchange(sources[kNoWord], {});
  sources.erase(kNoWord);
  targets.erase(kNoWord);
  if (sources.empty() || targets.empty()) return {};
  const std::vector<double> weights = normalized_columns(alignment, target_words);
  const auto weight_of = [&](const std::vector<int64_t>& target, const std::vector<int64_t>& source) {
    double sum = 0;
    for (const int64_t t : target) {
      for (const int64_t s : source) sum += weights[static_cast<size_t>(t * alignment.sources + s)];
    }
    return source.empty() ? 0 : sum / std::sqrt(static_cast<double>(target.size() * source.size()));
  };

  // Viterbi: best[i] is the log-probability of the best path whose last target word is linked to source i.
  std::vector<int> words;
  for (const auto& [word, tokens] : sources) words.push_back(word);
  const size_t count = words.size();
  std::vector<double> best(count);
  std::vector<std::vector<double>> linked;  // link weights of each target word
  std::vector<std::vector<size_t>> from;
  for (const auto& [word, tokens] : targets) {
    std::vector<double>& here = linked.emplace_back();
    for (const auto& [source, source_tokens] : sources) here.push_back(weight_of(tokens, source_tokens));
    std::vector<double> next(count);
    from.emplace_back(count);
    for (size_t i = 0; i < count; ++i) {
      size_t before = 0;
      double most = 0;
      for (size_t k = 0; k < count && from.size() > 1; ++k) {
        const double jump = std::min<double>(std::abs(words[i] - words[k] - 1), kLongestJump);
        const double reached = best[k] - kJumpCost * jump;
        if (k == 0 || reached > most) {
          before = k;
          most = reached;
        }
      }
      next[i] = most + std::log(here[i] + kMinWeight);
      from.back()[i] = before;
    }
    best.swap(next);
  }
  auto at = static_cast<size_t>(std::max_element(best.begin(), best.end()) - best.begin());
  std::vector<WordLink> links;
  size_t row = linked.size();
  for (auto target = targets.rbegin(); target != targets.rend(); ++target) {
    --row;
    if (weight_of(target->second, no_word) <= linked[row][at]) links.emplace_back(words[at], target->first);
    at = from[row][at];
  }
  std::reverse(links.begin(), links.end());
  return links;
}

std::vector<size_t> word_ends(std::string_view text) {
  std::vector<size_t> ends;
  for (const std::string_view word : split_whitespace(text)) {
    ends.push_back(static_cast<size_t>(word.data() - text.data()) + word.size());
  }
  return ends;
}

std::vector<int> words_of_spans(std::string_view text, const std::vector<std::pair<size_t, size_t>>& spans) {
  return words_of_spans(text, word_ends(text), spans);
}

std::vector<int> words_of_spans(std::string_view text, const std::vector<size_t>& ends,
                                const std::vector<std::pair<size_t, size_t>>& spans) {
  std::vector<int> words;
  std::vector<bool> marks;
  for (const auto& [begin, end] : spans) {
    size_t at = begin;  // the first non-space character
    for (size_t next = at; at < text.size() && is_whitespace(next_code_point(text, next));) at = next;
    const auto word = std::upper_bound(ends.begin(), ends.end(), at);
    const bool none = word == ends.end() || (begin == end && begin == text.size());
    words.push_back(none ? kNoWord : static_cast<int>(word - ends.begin()));
    marks.push_back(!has_letter_or_digit(text.substr(begin, end - begin)));
  }
  set_marks_apart(words, marks);
  return words;
}

std::vector<int> words_of_pieces(const std::vector<std::string>& pieces, const std::vector<bool>& special) {
  HEED_CHECK(pieces.size() == special.size());
  std::vector<int> words;
  std::vector<bool> marks;
  int word = -1;
  bool begins = true;  // whether the next text begins a word
  for (size_t n = 0; n < pieces.size(); ++n) {
    std::string_view text = pieces[n];
    marks.push_back(!has_letter_or_digit(text));
    if (special[n]) {
      words.push_back(kNoWord);
      continue;
    }
    if (text.starts_with(kSpaceMark)) {
      text.remove_prefix(kSpaceMark.size());
      begins = true;
    }
    if (begins && !text.empty()) {
      ++word;
      begins = false;
    }
    words.push_back(begins ? word + 1 : word);  // a separate mark belongs to the following word
  }
  // A final mark has no following word.
  for (int& number : words) number = number > word ? kNoWord : number;
  set_marks_apart(words, marks);
  return words;
}

std::string to_pharaoh(const std::vector<WordLink>& links) {
  std::string text;
  for (const auto& [source, target] : links) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}-{}", source, target);
  }
  return text;
}

}  // namespace heed::translate
