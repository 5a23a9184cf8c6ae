#include "text/terms/glossary.h"

#include <unicode/uchar.h>

#include <algorithm>

#include "base/check.h"
#include "base/files/file.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed {
namespace {

bool is_word_character_at(std::string_view text, size_t at) {
  return at < text.size() && is_letter_or_digit(next_code_point(text, at));
}

/// Tokens: runs of letters and digits, and every other non-space character.
std::vector<std::pair<size_t, size_t>> tokens_of(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> tokens;
  bool open = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const bool word = is_word_character_at(text, begin);
    const char32_t c = next_code_point(text, at);
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

/// The tokens joined by single spaces, for comparing terms and texts.
std::string key_of(std::string_view text, const std::vector<std::pair<size_t, size_t>>& tokens, size_t first,
                   size_t count) {
  std::string key;
  for (size_t n = first; n < first + count; ++n) {
    if (n > first) key += ' ';
    key += text.substr(tokens[n].first, tokens[n].second - tokens[n].first);
  }
  return key;
}

std::string with_lower_case_initial(const std::string& key) {
  size_t offset = 0;
  const char32_t first = next_code_point(key, offset);
  std::string small;
  append_utf8(small, static_cast<char32_t>(u_tolower(static_cast<UChar32>(first))));
  return small + key.substr(offset);
}

}  // namespace

Glossary Glossary::parse(std::string_view content, const std::string& name) {
  Glossary glossary;
  if (content.starts_with("\xEF\xBB\xBF")) content.remove_prefix(3);
  size_t number = 0;
  while (!content.empty()) {
    ++number;
    const size_t end = std::min(content.find('\n'), content.size());
    const std::string_view line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (strip(line).empty() || line.starts_with('#')) continue;
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
  if (tokens.empty() || strip(target).empty()) fail(ErrorKind::kUsage, "glossary terms must not be empty");
  max_words_ = std::max(max_words_, tokens.size());
  const auto [entry, added] = targets_.emplace(key_of(source, tokens, 0, tokens.size()), strip(target));
  if (!added && entry->second != strip(target)) {
    fail(ErrorKind::kUsage, "the term '{}' has two translations, '{}' and '{}'", source, entry->second,
         target);
  }
}

Glossary Glossary::load(const std::string& path) {
  return parse(read_file(path), path);
}

std::vector<Glossary::Match> Glossary::find(std::string_view text) const {
  std::vector<Match> matches;
  if (targets_.empty()) return matches;
  const auto tokens = tokens_of(text);
  for (size_t first = 0; first < tokens.size();) {
    size_t count = std::min(max_words_, tokens.size() - first);
    for (; count > 0; --count) {
      const std::string key = key_of(text, tokens, first, count);
      const auto exact = targets_.find(key);
      const auto found = exact != targets_.end() ? exact : targets_.find(with_lower_case_initial(key));
      if (found == targets_.end()) continue;
      matches.push_back({tokens[first].first, tokens[first + count - 1].second, found->second});
      break;
    }
    first += std::max<size_t>(count, 1);
  }
  return matches;
}

}  // namespace heed
