#include "translate/documents/html_elements.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>

#include "text/unicode/utf8.h"

namespace heed::translate {
namespace {

constexpr std::array kInline{
    GUMBO_TAG_A,    GUMBO_TAG_ABBR,  GUMBO_TAG_B,     GUMBO_TAG_BDI,    GUMBO_TAG_BDO,
    GUMBO_TAG_CITE, GUMBO_TAG_DEL,   GUMBO_TAG_DFN,   GUMBO_TAG_EM,     GUMBO_TAG_FONT,
    GUMBO_TAG_I,    GUMBO_TAG_INS,   GUMBO_TAG_LABEL, GUMBO_TAG_MARK,   GUMBO_TAG_Q,
    GUMBO_TAG_S,    GUMBO_TAG_SMALL, GUMBO_TAG_SPAN,  GUMBO_TAG_STRIKE, GUMBO_TAG_STRONG,
    GUMBO_TAG_SUB,  GUMBO_TAG_SUP,   GUMBO_TAG_TIME,  GUMBO_TAG_U,      GUMBO_TAG_BIG};
constexpr std::array kKept{GUMBO_TAG_CODE, GUMBO_TAG_KBD, GUMBO_TAG_SAMP, GUMBO_TAG_VAR, GUMBO_TAG_TT};
constexpr std::array kAtPlace{GUMBO_TAG_IMG, GUMBO_TAG_INPUT, GUMBO_TAG_WBR, GUMBO_TAG_SVG};
constexpr std::array kVoid{GUMBO_TAG_AREA,  GUMBO_TAG_BASE, GUMBO_TAG_BR,    GUMBO_TAG_COL,
                           GUMBO_TAG_EMBED, GUMBO_TAG_HR,   GUMBO_TAG_IMG,   GUMBO_TAG_INPUT,
                           GUMBO_TAG_LINK,  GUMBO_TAG_META, GUMBO_TAG_PARAM, GUMBO_TAG_SOURCE,
                           GUMBO_TAG_TRACK, GUMBO_TAG_WBR};

template <size_t N>
bool is_any(GumboTag tag, const std::array<GumboTag, N>& tags) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

/// Whether a text begins with a word, not with the symbol of an element, "C" or "He".
bool begins_with_word(std::string_view text) {
  size_t letters = 0;
  bool capital = false;
  for (size_t at = 0; at < text.size() && letters < 3; ++letters) {
    const auto c = static_cast<UChar32>(next_code_point(text, at));
    if (!u_isalpha(c)) break;
    if (letters == 0) capital = u_isupper(c);
  }
  return letters == 3 || (letters > 0 && !capital);
}

}  // namespace

bool is_inline(GumboTag tag) {
  return is_any(tag, kInline);
}
bool is_kept(GumboTag tag) {
  return is_any(tag, kKept);
}
bool is_at_place(GumboTag tag) {
  return is_any(tag, kAtPlace);
}
bool is_void(GumboTag tag) {
  return is_any(tag, kVoid);
}

Tag::WithoutText without_text(GumboTag tag) {
  return tag == GUMBO_TAG_A ? Tag::WithoutText::kNearest : Tag::WithoutText::kEmpty;
}

SegmentBuilder::As becomes(GumboTag tag, const SegmentBuilder& builder, std::string_view behind) {
  using As = SegmentBuilder::As;
  if (is_kept(tag)) return As::kKept;
  if (is_at_place(tag)) return As::kPoint;
  const bool script = tag == GUMBO_TAG_SUP || tag == GUMBO_TAG_SUB, number = !builder.has_letter();
  if (!script && tag != GUMBO_TAG_A) return As::kTag;
  const bool mark = builder.is_bracketed() ? script || number : script && number && builder.is_linked();
  if (mark && builder.is_attached()) return As::kPoint;
  if (script && number && builder.begins_word() && begins_with_word(behind)) return As::kPoint;
  return script && (number || builder.continues_word()) ? As::kKept : As::kTag;
}

}  // namespace heed::translate
