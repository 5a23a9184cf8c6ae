#include "text/pipeline/added_vocabulary.h"

#include <algorithm>
#include <utility>

#include "text/pipeline/pipeline_steps.h"
#include "text/unicode/characters.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

bool ends_with_word(std::string_view text) {
  if (text.empty()) return false;
  size_t at = character_start(text, text.size() - 1);
  return is_word_character(next_code_point(text, at));
}

bool begins_with_word(std::string_view text) {
  size_t at = 0;
  return !text.empty() && is_word_character(next_code_point(text, at));
}

/// The length of a text without the white space at its end.
size_t length_without_space(std::string_view text) {
  while (!text.empty()) {
    const size_t last = character_start(text, text.size() - 1);
    size_t at = last;
    if (!is_white_space(next_code_point(text, at))) break;
    text = text.substr(0, last);
  }
  return text.size();
}

/// The length of the white space at the beginning of a text.
size_t length_of_space(std::string_view text) {
  size_t end = 0;
  for (size_t at = 0; at < text.size() && is_white_space(next_code_point(text, at));) end = at;
  return end;
}

}  // namespace

AddedVocabulary::AddedVocabulary(std::vector<AddedToken> tokens, const NormalizerList& normalizers)
    : tokens_(std::move(tokens)) {
  size_t bytes = 0;
  for (const AddedToken& token : tokens_) bytes += token.normalized ? token.content.size() : 0;
  size_t limit = max_written_bytes(bytes);  // of all tokens together
  for (const AddedToken& token : tokens_) {
    std::string written = token.content;
    if (token.normalized) {
      AlignedText text(token.content, 0, token.content.size());
      normalize(text, normalizers, limit);
      written = text.text();
      limit -= written.size();
    }
    by_id_.emplace(token.id, written_.size());
    if (token.special) special_.insert(token.content);
    written_.push_back(std::move(written));
  }
  std::vector<ByteTrie::Entry> literal, normalized;
  // The last entry of a text counts. Of tokens that are written alike, the first one is matched, special ones
  // before others, so they are inserted backwards.
  for (const bool special : {false, true}) {
    for (size_t n = tokens_.size(); n-- > 0;) {
      if (tokens_[n].special != special || written_[n].empty()) continue;
      (tokens_[n].normalized ? normalized : literal).push_back({written_[n], static_cast<int32_t>(n)});
    }
  }
  has_literal_ = !literal.empty();
  has_normalized_ = !normalized.empty();
  literal_ = ByteTrie(std::move(literal));
  normalized_ = ByteTrie(std::move(normalized));
  std::vector<ByteTrie::Entry> spelt;
  for (const std::string& token : special_) {
    if (token.size() > length_of_character(token[0])) spelt.push_back({token});
  }
  spelt_ = ByteTrie(std::move(spelt));
}

const AddedToken* AddedVocabulary::find(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &tokens_[found->second];
}

const std::string* AddedVocabulary::decoded(int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &written_[found->second];
}

std::vector<AddedVocabulary::Part> AddedVocabulary::cut(std::string_view text, bool normalized,
                                                        const SpecialTokenOptions& options) const {
  std::vector<Part> parts;
  size_t done = 0;       // the end of the last part
  size_t space_end = 0;  // of the last white space that was looked for behind a token
  size_t taken = 0;      // the end of the white space that a token includes
  const ByteTrie& trie = normalized ? normalized_ : literal_;
  const bool any = normalized ? has_normalized_ : has_literal_;
  for (size_t at = 0; any && at < text.size();) {
    const ByteTrie::Found found = trie.longest(text.substr(at));
    if (found.value < 0) {
      ++at;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(found.value)];
    size_t begin = at, end = at + found.length;
    at = end;  // also if the token includes the white space after it
    if (token.special && !options.special_tokens &&
        std::ranges::find(options.also, token.id) == options.also.end()) {
      continue;
    }
    if (token.single_word && (ends_with_word(text.substr(0, begin)) || begins_with_word(text.substr(end))))
      continue;
    if (token.strip_left)
      begin = done + length_without_space(text.substr(done, begin - std::min(begin, done)));
    size_t behind = end;
    if (token.strip_right) {
      // Tokens within white space end in the same run of it, which is measured once.
      if (end > space_end) space_end = end + length_of_space(text.substr(end));
      behind = space_end;
    }
    if (begin >= behind) continue;  // all of it is white space that the last token includes
    if (done < begin) parts.push_back({done, begin});
    // A token in white space that another one includes does not include the rest of it again.
    parts.push_back({begin, behind > taken ? behind : end, token.id});
    if (token.strip_right) taken = std::max(taken, behind);
    done = behind;
  }
  if (done < text.size()) parts.push_back({done, text.size()});
  return parts;
}

std::vector<size_t> AddedVocabulary::cuts_in_special(std::string_view text) const {
  std::vector<size_t> cuts;
  for (size_t at = 0; at < text.size(); ++at) {
    if (spelt_.longest(text.substr(at)).value >= 0) cuts.push_back(at + length_of_character(text[at]));
  }
  return cuts;
}

std::vector<AddedVocabulary::Part> AddedVocabulary::cut(std::string_view text,
                                                        const SpecialTokenOptions& options) const {
  std::vector<Part> parts;
  for (const Part& part : cut(text, /*normalized=*/false, options)) {
    if (part.id >= 0) {
      parts.push_back(part);
      continue;
    }
    for (Part inner : cut(text.substr(part.begin, part.end - part.begin), /*normalized=*/true, options)) {
      inner.begin += part.begin;
      inner.end += part.begin;
      parts.push_back(inner);
    }
  }
  return parts;
}

}  // namespace heed
