// Properties of writing systems (Unicode scripts).
#pragma once

namespace heed {

/// Whether a character belongs to a script that is written without spaces between words: Han, Hiragana,
/// Katakana, Thai, Lao, Khmer, Myanmar or Tibetan.
bool is_unspaced_script(char32_t c);

}  // namespace heed
