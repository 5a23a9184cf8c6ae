// Decomposition, canonical order and composition as in Unicode Standard Annex 15, with ICU's data. ICU's own
// functions do not say which characters each result comes from. Characters newer than Unicode 9 stay as they
// are, since Hugging Face's library has the tables of that version.
#include "text/pipeline/normalization/unicode_forms.h"

#include <unicode/normalizer2.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "text/unicode/characters.h"

namespace heed {
namespace {

const icu::Normalizer2& normalizer_of(UnicodeForm form) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* found = nullptr;
  if (form == UnicodeForm::kNfc) found = icu::Normalizer2::getNFCInstance(status);
  if (form == UnicodeForm::kNfd) found = icu::Normalizer2::getNFDInstance(status);
  if (form == UnicodeForm::kNfkc) found = icu::Normalizer2::getNFKCInstance(status);
  if (form == UnicodeForm::kNfkd) found = icu::Normalizer2::getNFKDInstance(status);
  HEED_CHECK(U_SUCCESS(status) && found != nullptr);
  return *found;
}

bool is_normalized(const icu::Normalizer2& normalizer, const std::string& text) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::StringPiece piece(text.data(), static_cast<int32_t>(text.size()));
  const bool normalized = normalizer.isNormalizedUTF8(piece, status);
  HEED_CHECK(U_SUCCESS(status));
  return normalized;
}

uint8_t combining_class(const icu::Normalizer2& normalizer, char32_t c) {
  return is_in_unicode_9(c) ? normalizer.getCombiningClass(static_cast<UChar32>(c)) : 0;
}

/// Each character's full decomposition, with runs of marks in canonical order.
std::vector<Edit> decomposed(const std::string& text, const icu::Normalizer2& normalizer) {
  std::vector<Edit> edits;
  edits.reserve(text.size());
  size_t marks = 0;  // where the current run of marks begins
  const auto sort_marks = [&](size_t end) {
    if (end - marks < 2) return;
    std::stable_sort(edits.begin() + static_cast<ptrdiff_t>(marks),
                     edits.begin() + static_cast<ptrdiff_t>(end), [&](const Edit& a, const Edit& b) {
                       return combining_class(normalizer, a.character) <
                              combining_class(normalizer, b.character);
                     });
  };
  const auto add = [&](UChar32 c, int32_t change) {
    edits.push_back({static_cast<char32_t>(c), change});
    if (combining_class(normalizer, static_cast<char32_t>(c)) != 0) return;
    sort_marks(edits.size() - 1);
    marks = edits.size();
  };
  icu::UnicodeString parts;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<UChar32>(take_code_point(text, at));
    if (c < 0x80 || !is_in_unicode_9(static_cast<char32_t>(c)) || !normalizer.getDecomposition(c, parts)) {
      add(c, 0);
      continue;
    }
    for (int32_t n = 0; n < parts.length(); n = parts.moveIndex32(n, 1))
      add(parts.char32At(n), n > 0 ? 1 : 0);
  }
  sort_marks(edits.size());
  return edits;
}

/// The canonical composition of decomposed text.
std::vector<Edit> composed(const std::vector<Edit>& edits, const icu::Normalizer2& normalizer) {
  std::vector<Edit> result, marks;  // `marks` follow `base` and do not combine with it
  result.reserve(edits.size());
  std::optional<Edit> base;
  uint8_t last_class = 0;  // of `marks`
  const auto flush = [&] {
    if (base) result.push_back(*base);
    result.insert(result.end(), marks.begin(), marks.end());
    marks.clear();
    base.reset();
  };
  for (const Edit& edit : edits) {
    const uint8_t its_class = combining_class(normalizer, edit.character);
    if (!base) {
      if (its_class != 0) {
        result.push_back(edit);
      } else {
        base = edit;
      }
      continue;
    }
    const bool blocked = !marks.empty() && last_class >= its_class;
    const UChar32 pair = blocked || !is_in_unicode_9(edit.character)
                             ? -1
                             : normalizer.composePair(static_cast<UChar32>(base->character),
                                                      static_cast<UChar32>(edit.character));
    if (pair >= 0) {
      base = Edit{static_cast<char32_t>(pair), base->change + edit.change - 1};
    } else if (its_class == 0) {
      flush();
      base = edit;
    } else {
      marks.push_back(edit);
      last_class = its_class;
    }
  }
  flush();
  return result;
}

}  // namespace

void to_unicode_form(AlignedText& text, UnicodeForm form) {
  if (text.is_ascii()) return;
  const bool composes = form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc;
  const bool canonical = form == UnicodeForm::kNfc || form == UnicodeForm::kNfd;
  const icu::Normalizer2& normalizer = normalizer_of(form);
  if (is_normalized(normalizer, text.text())) return;
  const std::vector<Edit> edits =
      decomposed(text.text(), normalizer_of(canonical ? UnicodeForm::kNfd : UnicodeForm::kNfkd));
  text.rewrite(composes ? composed(edits, normalizer) : edits);
}

}  // namespace heed
