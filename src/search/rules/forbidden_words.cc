#include "search/rules/forbidden_words.h"

#include <fmt/ranges.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <charconv>

#include "base/text/option_error.h"
#include "text/unicode/unicode_properties.h"
#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

namespace heed::search {
namespace {

/// The bytes that a token adds to the text: "▁garden" is " garden", "<0xC3>" one byte.
std::string text_of(const Vocabulary& vocabulary, int32_t id) {
  constexpr std::string_view kSpace = "▁";
  if (vocabulary.is_special(id)) return "";
  std::string_view piece = vocabulary.piece(id);
  if (piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>')) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, byte, 16);
    if (error == std::errc() && end == piece.data() + 5) return std::string(1, static_cast<char>(byte));
  }
  std::string text;
  while (!piece.empty()) {
    const bool space = piece.starts_with(kSpace);
    text += space ? " " : piece.substr(0, 1);
    piece.remove_prefix(space ? kSpace.size() : 1);
  }
  return text;
}

/// Simple case folding. Bytes that are not UTF-8, such as a part of a character, stay.
std::string folded(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t c = next_code_point(text, at);
    if (c == U'\uFFFD') {
      result += text.substr(begin, at - begin);
    } else {
      append_utf8(result, static_cast<char32_t>(u_foldCase(static_cast<UChar32>(c), U_FOLD_CASE_DEFAULT)));
    }
  }
  return result;
}

bool has_capital(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<UChar32>(next_code_point(text, at));
    if (u_isupper(c) || u_istitle(c)) return true;
  }
  return false;
}

bool is_word_character(char32_t c) {
  return u_isalnum(static_cast<UChar32>(c)) != 0;
}

/// Whether two adjacent characters belong to the same word. Scripts without spaces have no word boundaries
/// that could be checked.
bool joins(char32_t left, char32_t right) {
  return is_word_character(left) && is_word_character(right) && !is_unspaced_script(left) &&
         !is_unspaced_script(right);
}

char32_t first_character(std::string_view text) {
  size_t at = 0;
  return next_code_point(text, at);
}

char32_t last_character(std::string_view text) {
  size_t at = character_start(text, text.size() - 1);
  const char32_t last = next_code_point(text, at);
  return at == text.size() ? last : U'\uFFFD';  // a stray byte
}

/// Whether no word continues from `before` into `after`; true where one of them is empty.
bool is_boundary(std::string_view before, std::string_view after) {
  return before.empty() || after.empty() || !joins(last_character(before), first_character(after));
}

}  // namespace

ForbiddenWords::ForbiddenWords(const Vocabulary& vocabulary, const std::vector<std::string>& phrases) {
  for (const std::string& written : phrases) {
    Phrase phrase{.written = written, .text = fmt::format("{}", fmt::join(split_whitespace(written), " "))};
    phrase.begins = phrase.text.ends_with('*') && phrase.text.size() > 1;
    if (phrase.begins) phrase.text.pop_back();
    if (phrase.text.empty()) fail_option("$forbid: a forbidden word must not be blank");
    phrase.exact = has_capital(phrase.text);
    if (!phrase.exact) phrase.text = folded(phrase.text);
    longest_ = std::max(longest_, phrase.text.size());
    phrases_.push_back(std::move(phrase));
  }
  for (size_t n = 0; n < vocabulary.size(); ++n) {
    const auto id = static_cast<int32_t>(n);
    tokens_.push_back(text_of(vocabulary, id));
    const std::string in_folded_case = folded(tokens_.back());
    for (Phrase& phrase : phrases_) index(phrase.exact ? tokens_.back() : in_folded_case, id, phrase);
  }
}

/// Enters a token wherever it would complete the phrase.
void ForbiddenWords::index(const std::string& token, int32_t id, Phrase& phrase) {
  const std::string_view text = token, wanted = phrase.text;
  if (text.empty()) return;
  const auto ends_word = [&](std::string_view before, std::string_view after) {
    return phrase.begins || is_boundary(before, after);
  };
  for (size_t written = wanted.size() - std::min(wanted.size(), text.size()); written < wanted.size();
       ++written) {
    const std::string_view rest = wanted.substr(written);
    if (text.starts_with(rest) && ends_word(rest, text.substr(rest.size()))) {
      phrase.completions[written].push_back(id);
    }
  }
  for (size_t at = 1; (at = text.find(wanted, at)) != std::string_view::npos; ++at) {
    if (!is_boundary(text.substr(0, at), wanted) || !ends_word(wanted, text.substr(at + wanted.size()))) {
      continue;
    }
    phrase.inside.push_back(id);
    break;
  }
}

std::vector<int32_t> ForbiddenWords::completing(std::span<const int32_t> ids) const {
  constexpr size_t kCharacter = 4;  // bytes at most, to check the boundary in front of the phrase
  std::string tail;
  size_t first = ids.size();
  while (first > 0 && tail.size() < longest_ + kCharacter) {
    tail.insert(0, tokens_[static_cast<size_t>(ids[--first])]);
  }
  const std::string in_folded_case = folded(tail);
  std::vector<int32_t> found;
  const auto add = [&](const std::vector<int32_t>& more) {
    found.insert(found.end(), more.begin(), more.end());
  };
  for (const Phrase& phrase : phrases_) {
    const std::string_view before = phrase.exact ? tail : in_folded_case, wanted = phrase.text;
    add(phrase.inside);
    for (const auto& [written, tokens] : phrase.completions) {
      if (!before.ends_with(wanted.substr(0, written))) continue;
      if (is_boundary(before.substr(0, before.size() - written), wanted)) add(tokens);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string ForbiddenWords::found_in(std::string_view text) const {
  const std::string in_folded_case = folded(text);
  for (const Phrase& phrase : phrases_) {
    const std::string_view all = phrase.exact ? text : in_folded_case, wanted = phrase.text;
    for (size_t at = 0; (at = all.find(wanted, at)) != std::string_view::npos; ++at) {
      if (is_boundary(all.substr(0, at), wanted) &&
          (phrase.begins || is_boundary(wanted, all.substr(at + wanted.size())))) {
        return phrase.written;
      }
    }
  }
  return "";
}

}  // namespace heed::search
