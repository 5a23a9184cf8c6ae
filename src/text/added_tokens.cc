#include "text/added_tokens.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/utf8.h"

namespace heed {
namespace {

/// "\w" of Unicode Technical Standard 18, Annex C.
bool is_word_character(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  constexpr uint32_t kWord = U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK;
  return u_isUAlphabetic(c) || (U_GET_GC_MASK(c) & kWord) != 0 || u_hasBinaryProperty(c, UCHAR_JOIN_CONTROL);
}

char32_t last_code_point(std::string_view text, size_t& begin) {
  begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  size_t at = begin;
  return next_code_point(text, at);
}

bool begins_with_word(std::string_view text) {
  size_t at = 0;
  return !text.empty() && is_word_character(next_code_point(text, at));
}

bool ends_with_word(std::string_view text) {
  size_t begin = 0;
  return !text.empty() && is_word_character(last_code_point(text, begin));
}

bool is_space(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c));
}

size_t with_following_space(std::string_view text) {
  while (!text.empty()) {
    size_t begin = 0;
    if (!is_space(last_code_point(text, begin))) break;
    text = text.substr(0, begin);
  }
  return text.size();
}

size_t space_before(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size() && is_space(next_code_point(text, at));) end = at;
  return end;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(),
            [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  for (size_t n = 0; n < tokens_.size(); ++n) {
    HEED_CHECK(!tokens_[n].content.empty() && (n == 0 || tokens_[n - 1].content != tokens_[n].content));
    by_id_.emplace(tokens_[n].id, n);
  }
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

std::vector<AddedTokens::Found> AddedTokens::find_in(std::string_view text, bool special) const {
  std::vector<Found> first, all;
  find_between(text, 0, text.size(), special, /*normalized=*/false, first);
  size_t begin = 0;
  for (const Found& each : first) {
    find_between(text, begin, each.begin, special, /*normalized=*/true, all);
    all.push_back(each);
    begin = each.end;
  }
  find_between(text, begin, text.size(), special, /*normalized=*/true, all);
  return all;
}

const AddedToken* AddedTokens::token_at(std::string_view text, size_t at, size_t end, bool normalized) const {
  const AddedToken* longest = nullptr;
  auto first = tokens_.begin(), last = tokens_.end();  // the candidates that begin with the bytes so far
  for (size_t length = 0; at + length < end && first != last; ++length) {
    const auto byte = static_cast<unsigned char>(text[at + length]);
    const auto byte_of = [length](const AddedToken& token) {
      return length < token.content.size() ? static_cast<unsigned char>(token.content[length]) : -1;
    };
    first = std::lower_bound(first, last, byte,
                             [&](const AddedToken& token, int b) { return byte_of(token) < b; });
    last = std::upper_bound(first, last, byte,
                            [&](int b, const AddedToken& token) { return b < byte_of(token); });
    if (first != last && first->content.size() == length + 1 && first->normalized == normalized)
      longest = &*first;
  }
  return longest;
}

void AddedTokens::find_between(std::string_view text, size_t begin, size_t end, bool special, bool normalized,
                               std::vector<Found>& found) const {
  size_t free = begin;  // end of the last match
  for (size_t at = begin; at < end;) {
    const AddedToken* token = token_at(text, at, end, normalized);
    if (token == nullptr) {
      ++at;
      continue;
    }
    Found match{token->id, at, at + token->content.size()};
    at = match.end;
    if (token->special && !special) continue;
    const std::string_view before = text.substr(begin, match.begin - begin),
                           behind = text.substr(match.end, end - match.end);
    if (token->single_word && (ends_with_word(before) || begins_with_word(behind))) continue;
    if (token->strip_left) match.begin = std::max(free, begin + with_following_space(before));
    if (token->strip_right) match.end += space_before(behind);
    free = at = match.end;
    found.push_back(match);
  }
}

}  // namespace heed
