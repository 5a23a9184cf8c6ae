#include "text/pipeline/aligned_text.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "text/pipeline/pipeline_steps.h"
#include "text/unicode/utf8.h"

namespace heed {

AlignedText::AlignedText(std::string_view original, size_t begin, size_t end) {
  constexpr size_t kMaxBytes = size_t{1} << 30;  // origins have 32 bits
  if (original.size() > kMaxBytes) {
    fail(ErrorKind::kText, "a text of {} MiB is too long to tokenize at once; split it into lines",
         original.size() >> 20);
  }
  reserve(end - begin);
  original = original.substr(0, end);
  for (size_t at = begin; at < end;) {
    const size_t first = at;
    if (static_cast<unsigned char>(original[at]) < 0x80) {
      ++at;
      append(original[first], {static_cast<uint32_t>(first), static_cast<uint32_t>(at)});
      continue;
    }
    const char32_t c = next_code_point(original, at);
    const Origin origin{static_cast<uint32_t>(first), static_cast<uint32_t>(at)};
    constexpr std::string_view kReplacement = "\uFFFD";
    const std::string_view bytes = original.substr(first, at - first);
    append(c == 0xFFFD ? kReplacement : bytes, origin);
  }
}

bool AlignedText::is_ascii() const {
  return std::all_of(text_.begin(), text_.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
}

void AlignedText::reserve(size_t bytes) {
  text_.reserve(bytes);
  origins_.reserve(bytes);
}

void AlignedText::clear() {
  text_.clear();
  origins_.clear();
}

void AlignedText::append(std::string_view text, Origin origin) {
  check_written_bytes(text_.size() + text.size(), limit_);
  text_ += text;
  origins_.resize(text_.size(), origin);
}

void AlignedText::append(const AlignedText& other, size_t begin, size_t end) {
  text_.append(other.text_, begin, end - begin);
  const auto first = other.origins_.begin();
  origins_.insert(origins_.end(), first + static_cast<ptrdiff_t>(begin), first + static_cast<ptrdiff_t>(end));
}

void AlignedText::rewrite(std::span<const Edit> edits, size_t removed) {
  AlignedText result;
  result.set_limit(limit_);
  result.reserve(text_.size());
  size_t at = 0;  // the first byte that has no successor yet
  const auto skip = [&](size_t characters) {
    for (; characters > 0 && at < text_.size(); --characters) at += length_of_character(text_[at]);
  };
  skip(removed);
  std::string utf8;
  for (const Edit& edit : edits) {
    // More characters than there were, after characters were removed at the beginning: the last origin.
    const size_t from = edit.change > 0 ? at - std::min<size_t>(at, 1) : std::min(at, text_.size() - 1);
    const Origin origin = edit.change > 0 && at == 0 ? Origin{} : origins_[from];
    if (edit.change <= 0) skip(1 + static_cast<size_t>(-edit.change));
    if (edit.character < 0x80) {
      result.append(static_cast<char>(edit.character), origin);
      continue;
    }
    utf8.clear();
    append_utf8(utf8, edit.character);
    result.append(utf8, origin);
  }
  *this = std::move(result);
}

void AlignedText::prepend(std::string_view text) {
  if (empty()) return;
  check_written_bytes(text_.size() + text.size(), limit_);
  text_.insert(0, text);
  origins_.insert(origins_.begin(), text.size(), origins_.front());
}

}  // namespace heed
