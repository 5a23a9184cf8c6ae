// How a token is written on an axis, whatever it holds.
//
// - "▁Haus" begins a word: the mark stays in front, drawn faint in pictures; "es" continues one and has none.
// - A character spelt in bytes ("<0xC3>", "<0xA4>") is written at each of its bytes with the byte's number:
// "ä₁",
//   "ä₂". A byte that belongs to no character is written "0xC3".
// - "</s>" becomes "⟨end⟩", "<s>" "⟨start⟩", "<pad>" "⟨pad⟩", "<unk>" "⟨unknown⟩".
// - Control characters become visible ("␛", "⏎", "⇥"); marks that would turn the direction of the text around
// them are
//   named ("U+202E"); bytes that are not UTF-8 become "\uFFFD". So a label can break neither picture nor
//   terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Text to write, in valid UTF-8; the first and the last so many bytes are not part of the token itself.
struct Label {
  std::string text;
  size_t faint_prefix = 0, faint_suffix = 0;
};

/// Text with what cannot be seen made visible, always valid UTF-8.
std::string visible_text(std::string_view text);

/// One label per token. `word_mark` replaces the "▁" that begins a word.
std::vector<Label> token_labels(const std::vector<std::string>& tokens, std::string_view word_mark);

/// The byte of a byte piece such as "<0xE4>", or -1.
int byte_of_piece(std::string_view piece);

/// The piece without its word mark, and whether it had one.
bool strip_word_mark(std::string_view& piece);

/// Whether it is a token with a meaning to the model and no text, such as "</s>".
bool is_special_token(std::string_view token);

}  // namespace heed
