// SentencePiece's compiled character map, as Hugging Face's tokenizers apply it: to each user-perceived
// character of less than six bytes, then to each of its code points. Of several keys that a text begins with,
// the shortest counts, and it replaces the whole.
#include <unicode/uchar.h>

#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "text/charsmap_check.h"
#include "text/pipeline/normalizer.h"

namespace heed {
namespace {

int32_t break_class(char32_t c) {
  return u_getIntPropertyValue(static_cast<UChar32>(c), UCHAR_GRAPHEME_CLUSTER_BREAK);
}

bool is_pictographic(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_EXTENDED_PICTOGRAPHIC);
}

/// The end of the grapheme cluster at `begin` (Unicode Standard Annex 29, rules GB3 to GB13; GB9c concerns
/// clusters of nine bytes and more only).
size_t cluster_end(std::string_view text, size_t begin) {
  size_t at = begin;
  char32_t c = take_code_point(text, at);
  int32_t before = break_class(c);
  bool pictographic = is_pictographic(c);  // the cluster is a pictograph with extensions
  bool joined = false;                     // and a joiner at its end
  int flags = before == U_GCB_REGIONAL_INDICATOR ? 1 : 0;
  while (at < text.size()) {
    size_t next = at;
    c = take_code_point(text, next);
    const int32_t after = break_class(c);
    bool joins = false;
    switch (before) {
      case U_GCB_CR:
        joins = after == U_GCB_LF;
        break;
      case U_GCB_LF:
      case U_GCB_CONTROL:
        break;
      case U_GCB_L:
        joins = after == U_GCB_L || after == U_GCB_V || after == U_GCB_LV || after == U_GCB_LVT;
        break;
      case U_GCB_LV:
      case U_GCB_V:
        joins = after == U_GCB_V || after == U_GCB_T;
        break;
      case U_GCB_LVT:
      case U_GCB_T:
        joins = after == U_GCB_T;
        break;
      case U_GCB_PREPEND:
        joins = after != U_GCB_CR && after != U_GCB_LF && after != U_GCB_CONTROL;
        break;
      case U_GCB_REGIONAL_INDICATOR:
        joins = after == U_GCB_REGIONAL_INDICATOR && flags % 2 == 1;
        break;
      default:
        break;
    }
    const bool control = before == U_GCB_CR || before == U_GCB_LF || before == U_GCB_CONTROL;
    if (!control) {
      joins |= after == U_GCB_EXTEND || after == U_GCB_ZWJ || after == U_GCB_SPACING_MARK;
      joins |= joined && is_pictographic(c);
    }
    if (!joins) break;
    if (after == U_GCB_REGIONAL_INDICATOR) ++flags;
    joined = pictographic && after == U_GCB_ZWJ;
    if (!joined && after != U_GCB_EXTEND) pictographic = is_pictographic(c);
    before = after;
    at = next;
  }
  return at;
}

class Precompiled : public Normalizer {
 public:
  explicit Precompiled(std::string charsmap) : charsmap_(std::move(charsmap)) {
    HEED_CHECK(find_charsmap_fault(charsmap_).empty());
    constexpr size_t kHeader = 4;
    const size_t trie_size = unit_at(0);
    for (size_t at = 0; at < trie_size; at += 4) trie_.push_back(unit_at(kHeader + at));
    replacements_ = std::string_view(charsmap_).substr(kHeader + trie_size);
    for (unsigned char c = 0; c < 0x80; ++c) {
      const char character = static_cast<char>(c);
      changes_ascii_[c] = replacement(std::string_view(&character, 1)).has_value();
    }
  }

  void apply(AlignedText& text) const override {
    std::vector<Edit> edits;
    edits.reserve(text.size());
    bool modified = false;
    const std::string_view all = text.text();
    const auto is_ascii = [&](size_t at) {
      return at >= all.size() || static_cast<unsigned char>(all[at]) < 0x80;
    };
    for (size_t at = 0; at < all.size();) {
      if (is_ascii(at) && is_ascii(at + 1) && all[at] != '\r' &&
          !changes_ascii_[static_cast<unsigned char>(all[at])]) {
        edits.push_back({static_cast<unsigned char>(all[at++]), 0});
        continue;
      }
      const size_t end = cluster_end(all, at);
      constexpr size_t kLongest = 5;
      check_written_bytes(edits.size(), text.limit());
      if (end - at <= kLongest && replace(all.substr(at, end - at), edits)) {
        modified = true;
        at = end;
        continue;
      }
      while (at < end) {
        size_t next = at;
        const char32_t c = take_code_point(all, next);
        if (replace(all.substr(at, next - at), edits)) {
          modified = true;
        } else {
          edits.push_back({c, 0});
        }
        at = next;
      }
    }
    if (modified) text.rewrite(edits);
  }

 private:
  uint32_t unit_at(size_t at) const {
    uint32_t unit = 0;
    for (size_t i = 0; i < 4; ++i)
      unit |= static_cast<uint32_t>(static_cast<unsigned char>(charsmap_[at + i])) << (8 * i);
    return unit;
  }

  static size_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }

  /// What the shortest key at the beginning of a text is replaced by.
  std::optional<std::string_view> replacement(std::string_view text) const {
    constexpr uint32_t kValueBit = 1u << 31;
    size_t node = offset_of(trie_[0]);
    for (const char c : text) {
      if (c == 0) break;
      node ^= static_cast<unsigned char>(c);
      const uint32_t unit = trie_[node];
      if ((unit & (kValueBit | 0xFF)) != static_cast<unsigned char>(c)) return {};
      node ^= offset_of(unit);
      if (unit >> 8 & 1) {
        const std::string_view found = replacements_.substr(trie_[node] & ~kValueBit);
        return found.substr(0, found.find('\0'));
      }
    }
    return {};
  }

  /// Appends the replacement of a text if it has one. Its last characters are inserted ones if it has more
  /// than the text; the last one replaces the rest if it has fewer.
  bool replace(std::string_view text, std::vector<Edit>& edits) const {
    const auto by = replacement(text);
    if (!by) return false;
    int32_t left = 0;
    for (size_t at = 0; at < text.size(); ++left) at += length_of_character(text[at]);
    for (size_t at = 0; at < by->size(); --left)
      edits.push_back({take_code_point(*by, at), left > 0 ? 0 : 1});
    // As in the library, what is removed at the very beginning of the text is not counted.
    if (left > 0 && !edits.empty()) edits.back().change -= left;
    return true;
  }

  std::string charsmap_;
  std::vector<uint32_t> trie_;
  std::string_view replacements_;  // in charsmap_
  std::array<bool, 128> changes_ascii_{};
};

}  // namespace

std::unique_ptr<Normalizer> precompiled_normalizer(std::string charsmap) {
  return std::make_unique<Precompiled>(std::move(charsmap));
}

}  // namespace heed
