#include "data/augment/name_inventor.h"

#include <fmt/format.h>
#include <unicode/uchar.h>

#include <algorithm>
#include <unordered_set>

#include "base/check.h"
#include "base/text/ascii.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

bool is_letter(char32_t c) {
  return u_isalpha(static_cast<UChar32>(c)) != 0;
}

/// The maximal runs of characters for which `belongs` is true.
template <typename Belongs>
std::vector<std::string_view> runs(std::string_view text, const Belongs& belongs) {
  std::vector<std::string_view> found;
  size_t begin = 0, offset = 0;
  while (offset < text.size()) {
    const size_t at = offset;
    if (belongs(next_code_point(text, offset))) continue;
    if (at > begin) found.push_back(text.substr(begin, at - begin));
    begin = offset;
  }
  if (text.size() > begin) found.push_back(text.substr(begin));
  return found;
}

bool is_word_character(char32_t c) {
  return is_letter(c) || u_isdigit(static_cast<UChar32>(c)) != 0;
}

bool looks_like_a_name(std::string_view word) {
  const std::u32string letters = utf8_to_utf32(word);
  return letters.size() >= 3 && u_isupper(static_cast<UChar32>(letters[0])) != 0 &&
         std::all_of(letters.begin() + 1, letters.end(),
                     [](char32_t c) { return u_islower(static_cast<UChar32>(c)) != 0; });
}

bool looks_like_a_number(std::string_view word) {
  return word.size() >= 2 && std::all_of(word.begin(), word.end(), is_ascii_digit);
}

template <typename Looks>
std::vector<std::string> shared(std::string_view source, std::string_view target, const Looks& looks) {
  const std::vector<std::string_view> words = runs(target, is_word_character);
  std::unordered_set<std::string_view> there(words.begin(), words.end());
  std::vector<std::string> found;
  for (const std::string_view word : runs(source, is_word_character)) {
    if (looks(word) && there.erase(word) > 0) found.emplace_back(word);  // each word once
  }
  return found;
}

std::string fold_case(std::string_view text) {
  std::string folded;
  for (const char32_t c : utf8_to_utf32(text)) {
    append_utf8(folded, static_cast<char32_t>(u_tolower(static_cast<UChar32>(c))));
  }
  return folded;
}

/// One to six characters of one non-Latin block.
std::string other_script(Random& random) {
  struct Block {
    char32_t first, last;
  };
  static const std::vector<Block> blocks{
      {0x3b1, 0x3c9},      // Greek
      {0x410, 0x44f},      // Cyrillic
      {0x5d0, 0x5ea},      // Hebrew
      {0x627, 0x64a},      // Arabic
      {0x905, 0x939},      // Devanagari
      {0xe01, 0xe2e},      // Thai
      {0x3041, 0x3096},    // Hiragana
      {0x30a1, 0x30fa},    // Katakana
      {0x4e00, 0x9fa5},    // Chinese characters
      {0x4e00, 0x9fa5},    // twice as likely
      {0xac00, 0xd7a3},    // Hangul
      {0x1f300, 0x1f64f},  // pictures
  };
  const Block& block = blocks[random.below(blocks.size())];
  std::string text;
  for (uint64_t left = 1 + random.below(6); left > 0; --left) {
    const auto c = block.first + static_cast<char32_t>(random.below(block.last - block.first + 1));
    if (u_isdefined(static_cast<UChar32>(c)) != 0) append_utf8(text, c);
  }
  if (text.empty()) append_utf8(text, block.first);
  return text;
}

}  // namespace

std::vector<std::string> shared_names(std::string_view source, std::string_view target) {
  return shared(source, target, looks_like_a_name);
}

std::vector<std::string> shared_numbers(std::string_view source, std::string_view target) {
  return shared(source, target, looks_like_a_number);
}

std::string replace_word(std::string_view text, std::string_view word, std::string_view other) {
  std::string result;
  size_t copied = 0;
  for (const std::string_view each : runs(text, is_word_character)) {
    if (each != word) continue;
    const auto begin = static_cast<size_t>(each.data() - text.data());
    result += text.substr(copied, begin - copied);
    result += other;
    copied = begin + each.size();
  }
  result += text.substr(copied);
  return result;
}

void NameInventor::learn(const std::string& name) {
  if (!names_.insert(name).second) return;
  learnt_.push_back(name);
  const std::u32string letters = utf8_to_utf32(name);
  for (size_t n = 0; n <= letters.size(); ++n) {
    const char32_t next = n < letters.size() ? letters[n] : U'\0';
    for (size_t before = 0; before <= std::min<size_t>(n, 2); ++before) {
      // Only the first letter has an empty context.
      if (before > 0 || n == 0) followers_[letters.substr(n - before, before)].push_back(next);
    }
    if (n > 0 && next != 0) small_letters_.push_back(next);
  }
}

std::string NameInventor::invent_word(Random& random) const {
  constexpr size_t kLeast = 3, kMost = 14;
  // Occasionally use a shorter context, since names come from all languages.
  constexpr double kOne = 0.15, kAny = 0.03;
  std::u32string word;
  while (word.size() < kMost) {
    const double wild = random.uniform();
    const size_t before = std::min<size_t>(word.size(), wild < kOne ? 1 : 2);
    const auto found = followers_.find(word.substr(word.size() - before));
    const bool any = found == followers_.end() || (!word.empty() && wild < kAny);
    const std::vector<char32_t>& letters = any ? small_letters_ : found->second;
    const char32_t next = letters[random.below(letters.size())];
    if (next == 0 && word.size() >= kLeast) break;
    if (next != 0) word.push_back(next);
    if (next == 0 && random.below(4) == 0) word.clear();  // dead end with a short name: start again
  }
  std::string text;
  for (const char32_t letter : word) append_utf8(text, letter);
  return text;
}

std::string NameInventor::invent_new_word(Random& random) const {
  std::string word = invent_word(random);
  for (int tries = 0; names_.count(word) > 0 && tries < 100; ++tries) word = invent_word(random);
  return word;
}

/// Each statement draws at most one word: the order of the draws, and so a recipe's training data, does not
/// depend on the compiler's order of evaluation.
std::string NameInventor::invent_address(Random& random) const {
  const auto small = [&] { return fold_case(invent_new_word(random)); };
  static const std::vector<std::string> endings{".com", ".org", ".de", ".es", ".net", ".info"};
  const std::string& ending = endings[random.below(endings.size())];
  const std::string host = small() + ending;
  switch (random.below(4)) {
    case 0:
      return fmt::format("{}@{}", small(), host);
    case 1: {
      const std::string last = small();
      return fmt::format("{}.{}@{}", small(), last, host);
    }
    case 2:
      return fmt::format("www.{}", host);
    default:
      return fmt::format("http://{}/{}", host, small());
  }
}

std::string NameInventor::invent(Random& random) const {
  HEED_CHECK(!names_.empty());
  const uint64_t kind = random.below(24);
  if (kind == 0) return invent_address(random);
  if (kind <= 2) return other_script(random);
  std::string text = invent_new_word(random);
  if (random.below(6) == 0) text.append(1, ' ').append(invent_new_word(random));
  return text;
}

}  // namespace heed
