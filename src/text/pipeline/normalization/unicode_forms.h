// Unicode's normalization forms, with the origin of each character.
#pragma once

#include "text/pipeline/aligned_text.h"
#include "text/pipeline/normalization/normalizer.h"

namespace heed {

/// Rewrites a text in a normalization form. Characters that a mark was moved over keep their positions: the
/// n-th character of a decomposition that replaces another has the origin of the n-th that is replaced.
void to_unicode_form(AlignedText& text, UnicodeForm form);

}  // namespace heed
