// SentencePiece's compiled character map, as Hugging Face's tokenizers apply it: to each user-perceived
// character of less than six bytes, then to each of its code points. Of several keys that a text begins with,
// the shortest counts, and it replaces the whole.
#include <unicode/uchar.h>

#include <array>
#include <optional>

#include "text/pipeline/normalization/character_map.h"
#include "text/pipeline/normalization/normalizer.h"
#include "text/pipeline/pipeline_steps.h"

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
  explicit Precompiled(std::string_view table) : map_(table) {
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
  /// What the shortest key at the beginning of a text is replaced by. A zero byte ends the text.
  std::optional<std::string_view> replacement(std::string_view text) const {
    const CharacterMap::Match match = map_.shortest(text.substr(0, text.find('\0')));
    if (match.length == 0) return {};
    return match.replacement;
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

  CharacterMap map_;
  std::array<bool, 128> changes_ascii_{};
};

}  // namespace

std::unique_ptr<Normalizer> precompiled_normalizer(std::string_view charsmap) {
  return std::make_unique<Precompiled>(charsmap);
}

}  // namespace heed
