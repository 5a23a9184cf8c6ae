#include "text/scripts.h"

#include <unicode/uscript.h>

namespace heed {

Spacing spacing_of(char32_t c) {
  UErrorCode status = U_ZERO_ERROR;
  switch (uscript_getScript(static_cast<UChar32>(c), &status)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
      return Spacing::kNone;
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
    case USCRIPT_TIBETAN:
      return Spacing::kSentences;
    default:
      return Spacing::kWords;
  }
}

}  // namespace heed
