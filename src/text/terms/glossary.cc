#include "text/terms/glossary.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "base/check.h"
#include "base/files/file.h"
#include "base/stop.h"
#include "base/text/byte_order_mark.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

/// Tokens: runs of letters and digits, and every other non-space character. Ignorable characters belong to
/// the word that they are in.
std::vector<std::pair<size_t, size_t>> tokens_of(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> tokens;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    const bool word = open ? is_letter_digit_or_mark(c) || is_ignorable(c) : is_letter_or_digit(c);
    if (!open && is_ignorable(c)) continue;
    if (is_whitespace(c)) {
      open = false;
    } else if (word && open) {
      tokens.back().second = at;
    } else {
      tokens.emplace_back(begin, at);
      open = word;
    }
  }
  return tokens;
}

/// A token without its ignorable characters.
std::string word_of(std::string_view token) {
  std::string word;
  for (size_t at = 0; at < token.size();) {
    const size_t begin = at;
    if (!is_ignorable(next_code_point(token, at))) word += token.substr(begin, at - begin);
  }
  return word;
}

std::string with_lower_case_initial(const std::string& word) {
  size_t offset = 0;
  const char32_t first = next_code_point(word, offset);
  std::string small;
  append_utf8(small, static_cast<char32_t>(u_tolower(static_cast<UChar32>(first))));
  return small + word.substr(offset);
}

uint64_t edge_of(uint32_t node, uint32_t word) {
  return uint64_t{node} << 32 | word;
}

}  // namespace

Glossary Glossary::parse(std::string_view content, const std::string& name) {
  Glossary glossary;
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  size_t number = 0;
  while (!content.empty()) {
    ++number;
    const size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (strip(line).empty() || strip(line).starts_with('#')) continue;
    if (find_invalid_utf8(line)) fail(ErrorKind::kText, "'{}', line {}: not valid UTF-8", name, number);
    const size_t tab = line.find('\t');
    const std::string_view source = strip(line.substr(0, tab));
    const std::string_view target = tab == std::string_view::npos ? "" : strip(line.substr(tab + 1));
    if (source.empty() || target.empty() || target.find('\t') != std::string_view::npos) {
      fail(ErrorKind::kFormat, "'{}', line {}: expected a source term, a tab and a target term", name,
           number);
    }
    try {
      glossary.add(source, target);
    } catch (const Error& error) {
      fail(ErrorKind::kFormat, "'{}', line {}: {}", name, number, error.what());
    }
  }
  return glossary;
}

void Glossary::add(std::string_view source, std::string_view target) {
  const auto tokens = tokens_of(source);
  target = strip(target);
  if (tokens.empty() || target.empty()) fail(ErrorKind::kUsage, "glossary terms must not be empty");
  std::string term;  // the words, joined by single spaces
  uint32_t node = 0;
  for (const auto& [begin, end] : tokens) {
    const std::string word = word_of(source.substr(begin, end - begin));
    term += term.empty() ? word : " " + word;
    const uint32_t number = words_.emplace(word, static_cast<uint32_t>(words_.size()) + 1).first->second;
    const auto [edge, added] = edges_.emplace(edge_of(node, number), static_cast<uint32_t>(ends_.size()));
    if (added) ends_.push_back(0);
    node = edge->second;
  }
  if (ends_[node] == 0) {
    terms_.emplace_back(std::move(term), target);
    ends_[node] = terms_.size();
  } else if (const std::string& other = terms_[ends_[node] - 1].second; other != target) {
    fail(ErrorKind::kUsage, "the term '{}' has two translations, '{}' and '{}'", source, other, target);
  }
}

Glossary Glossary::load(const std::string& path) {
  return parse(read_file(path), path);
}

uint32_t Glossary::number_of(const std::string& word) const {
  const auto found = words_.find(word);
  return found == words_.end() ? 0 : found->second;
}

Glossary::Longest Glossary::longest(uint32_t first, std::span<const uint32_t> rest) const {
  Longest found;
  auto edge = edges_.find(edge_of(0, first));
  for (size_t words = 1; edge != edges_.end(); ++words) {
    const uint32_t node = edge->second;
    if (ends_[node] > 0) found = {words, ends_[node] - 1};
    if (words > rest.size()) break;
    edge = edges_.find(edge_of(node, rest[words - 1]));
  }
  return found;
}

std::vector<Glossary::Match> Glossary::find(std::string_view text) const {
  std::vector<Match> matches;
  if (terms_.empty()) return matches;
  const auto tokens = tokens_of(text);
  const auto word_at = [&](size_t n) {
    return word_of(text.substr(tokens[n].first, tokens[n].second - tokens[n].first));
  };
  std::vector<uint32_t> numbers;
  for (size_t n = 0; n < tokens.size(); ++n) numbers.push_back(number_of(word_at(n)));
  for (size_t first = 0; first < tokens.size();) {
    StopScope::check();
    const auto rest = std::span(numbers).subspan(first + 1);
    Longest found = longest(numbers[first], rest);
    const uint32_t small = number_of(with_lower_case_initial(word_at(first)));
    if (small != numbers[first]) {
      const Longest other = longest(small, rest);
      if (other.words > found.words) found = other;  // the term as it is written goes first
    }
    const size_t count = std::max<size_t>(found.words, 1);
    if (found.words > 0) {
      matches.push_back({tokens[first].first, tokens[first + count - 1].second, terms_[found.term].second});
    }
    first += count;
  }
  return matches;
}

}  // namespace heed
