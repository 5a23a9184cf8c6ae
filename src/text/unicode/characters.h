// Classes of characters as Hugging Face's tokenizers define them.
#pragma once

namespace heed {

/// Unicode's White_Space.
bool is_white_space(char32_t c);
/// Categories Nd, Nl and No.
bool is_numeric(char32_t c);
/// "\w" of Unicode Technical Standard 18, Annex C.
bool is_word_character(char32_t c);
/// Categories Mn, Mc and Me of Unicode 9, which the library's normalization has.
bool is_mark(char32_t c);
bool is_in_unicode_9(char32_t c);
/// A number of the script of Unicode 9, with those of Japanese as one (as SentencePiece joins them). -1 for a
/// space and for characters without a script.
int joined_script(char32_t c);

// The following are as of Unicode 8, which the library's table of categories has; newer characters have none.

/// Control, format and private-use characters, except tab and line ends.
bool is_control(char32_t c);
/// All punctuation, and the ASCII characters that are no letters, digits, spaces or controls: "$", "+", "^".
bool is_punctuation(char32_t c);
bool is_nonspacing_mark(char32_t c);

/// CJK ideographs, by BERT's list of blocks; neither kana nor Hangul. Like the library's, the list lacks
/// U+2B820 to U+2B91F.
bool is_cjk_ideograph(char32_t c);

}  // namespace heed
