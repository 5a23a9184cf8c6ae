#include "text/pipeline/normalization/sentencepiece_normalizer.h"

#include <utility>

#include "text/pipeline/segmentation/space_mark.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// Writes a normalized text and remembers the position in the original text of each byte.
class Writer {
 public:
  Writer(size_t bytes, bool marks_spaces) : space_(marks_spaces ? kSpaceMark : std::string_view(" ")) {
    text_.reserve(bytes + bytes / 4 + 8);
    origins_.reserve(bytes + bytes / 4 + 8);
  }

  void write(char c, size_t position) {
    if (c == ' ') return write_space(position);
    text_.push_back(c);
    origins_.push_back({static_cast<uint32_t>(position), 0});
  }
  void write_space(size_t position) {
    text_ += space_;
    origins_.resize(text_.size(), {static_cast<uint32_t>(position), 0});
  }

  /// Removes trailing spaces; returns the position of the first of them, or `end`.
  size_t remove_trailing_spaces(size_t end) {
    while (std::string_view(text_).ends_with(space_)) {
      text_.resize(text_.size() - space_.size());
      end = origins_[text_.size()].begin;
      origins_.resize(text_.size());
    }
    return end;
  }

  AlignedText finish(size_t end) && {
    for (size_t n = 0; n < origins_.size(); ++n) {
      origins_[n].end = n + 1 < origins_.size() ? origins_[n + 1].begin : static_cast<uint32_t>(end);
    }
    return {std::move(text_), std::move(origins_)};
  }

 private:
  std::string_view space_;
  std::string text_;
  std::vector<Origin> origins_;
};

}  // namespace

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceNormalizerOptions& options,
                                                 const std::vector<std::string>& symbols)
    : options_(options), map_(options.charsmap) {
  std::vector<ByteTrie::Entry> entries;
  for (const std::string& symbol : symbols) entries.push_back({symbol, 0});
  symbols_ = ByteTrie(std::move(entries));
  for (size_t c = 0; c < changes_.size(); ++c) {
    const char byte = static_cast<char>(c);
    changes_[c] = c >= 0x80 || symbols_.child(ByteTrie::kRoot, byte) >= 0 || map_.begins_key(byte);
  }
}

SentencePieceNormalizer::Step SentencePieceNormalizer::step_at(std::string_view rest) const {
  if (!changes_[static_cast<unsigned char>(rest[0])]) return {rest.substr(0, 1), 1};
  if (const size_t length = symbols_.longest(rest).length) return {rest.substr(0, length), length};
  const CharacterMap::Match match = map_.longest(rest);
  if (match.length > 0) return {match.replacement, match.length};
  constexpr std::string_view kReplacement = "\uFFFD";
  const size_t length = length_of_valid_character(rest, 0);
  if (length == 0) return {kReplacement, 1};
  return {rest.substr(0, length), length};
}

size_t SentencePieceNormalizer::length_of_leading_spaces(std::string_view text) const {
  size_t at = 0;
  while (at < text.size()) {
    const Step step = step_at(text.substr(at));
    if (step.written != " ") break;
    at += step.length;
  }
  return at;
}

/// The text, which is not empty, begins at `position` of a longer one.
bool SentencePieceNormalizer::adds_space_before(std::string_view text, size_t position) const {
  if (!options_.adds_space || options_.adds_space_behind) return false;
  if (!options_.adds_space_first) return true;
  const std::string_view first = step_at(text).written;
  return position == 0 && !first.starts_with(' ') && !first.starts_with(kSpaceMark);
}

AlignedText SentencePieceNormalizer::normalize(std::string_view text, size_t position) const {
  size_t at = options_.removes_spaces ? length_of_leading_spaces(text) : 0;
  if (at == text.size()) return {};
  Writer writer(text.size(), options_.marks_spaces);
  if (adds_space_before(text.substr(at), position)) writer.write_space(position + at);
  bool after_space = options_.removes_spaces;
  while (at < text.size()) {
    const Step step = step_at(text.substr(at));
    std::string_view written = step.written;
    while (after_space && written.starts_with(' ')) written.remove_prefix(1);
    for (const char c : written) writer.write(c, position + at);
    if (!written.empty()) after_space = options_.removes_spaces && written.ends_with(' ');
    at += step.length;
  }
  if (options_.removes_spaces) position = writer.remove_trailing_spaces(position + at) - at;
  if (options_.adds_space && options_.adds_space_behind) writer.write_space(position + at);
  return std::move(writer).finish(position + at);
}

}  // namespace heed
