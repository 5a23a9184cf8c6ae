// Display labels of tokens.
//
// - "▁Haus" begins a word: the marker is kept, drawn lightly in pictures; "es" continues a word and has none.
// - Byte pieces of a character ("<0xC3>", "<0xA4>") are shown as the character with an index: "ä₁", "ä₂". A
//   byte that belongs to no character is written "0xC3".
// - "</s>" becomes "⟨end⟩", "<s>" "⟨start⟩", "<pad>" "⟨pad⟩", "<unk>" "⟨unknown⟩"; likewise the special
// tokens
//   of other families.
// - Control characters become visible ("␛", "⏎", "⇥"), marks that change the direction of text and the
//   characters that XML cannot hold are named ("U+202E", "U+FFFF"), and bytes that are not UTF-8 become
//   "\uFFFD", so that a label can break neither picture nor terminal.
//
// The explorer has the same rules (web/picture/labels.js); the tests of both read
// tests/data/token_labels.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A label in valid UTF-8; the given numbers of bytes at its beginning and end are not part of the token
/// itself.
struct Label {
  std::string text;
  size_t faint_prefix = 0, faint_suffix = 0;
};

/// Makes invisible characters visible; the result is valid UTF-8.
std::string visible_text(std::string_view text);

/// One label per token. `word_mark` replaces the marker "▁".
std::vector<Label> token_labels(const std::vector<std::string>& tokens, std::string_view word_mark);

/// Removes the word marker; returns whether there was one.
bool strip_word_mark(std::string_view& piece);

/// Whether it is a special token such as "</s>".
bool is_special_token(std::string_view token);

}  // namespace heed
