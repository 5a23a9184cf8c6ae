// Test helper: deterministic artificial text in several scripts, and a small SentencePiece model.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/rng.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/training/sentencepiece_trainer.h"
#include "text/training/sentencepiece_writer.h"

namespace heed {

inline std::vector<std::string> artificial_lines(size_t count, uint64_t seed = 1) {
  static const std::vector<std::string> words{
      "the",    "house", "houses",  "tree",     "trees",  "Haus",    "Häuser", "größer", "kleiner", "sees",
      "seeing", "saw",   "der",     "die",      "das",    "and",     "und",    "a",      "ein",     "eine",
      "kleine", "small", "smaller", "smallest", "дом",    "дома",    "家",     "日本",   "12",      "2024",
      "naïve",  "it's",  "co-op",   "walk",     "walked", "walking", "walks"};
  Random random(RandomKey::from_seed(seed));
  std::vector<std::string> lines(count);
  for (std::string& line : lines) {
    const uint64_t length = 1 + random.below(9);
    for (uint64_t n = 0; n < length; ++n) {
      if (n > 0) line += ' ';
      line += words[random.below(words.size())];
    }
    line += random.below(4) ? "." : "?";
  }
  return lines;
}

/// Returns the lines one by one.
inline NextLine reader_of(std::vector<std::string> lines) {
  return [lines = std::move(lines), next = size_t{0}](std::string& line) mutable {
    if (next == lines.size()) return false;
    line = lines[next++];
    return true;
  };
}

/// Random valid UTF-8: letters of several scripts, combining marks, control characters and spaces.
inline std::string random_text(Random& random, uint64_t max_parts) {
  static const std::vector<std::string> parts{
      "a",       "b",      "house", "ing", "ä",  "ß",      "д",     "家",     "😀",      "👩‍👩‍👧",
      "e\u0301", "\u200b", "½",     "ﬁ",   "Ａ", "</s>",   "<unk>", ">>fr<<", "<0x41>", "▁",
      ".",       ",",      "-",     "\t",  "\n", "\u00a0", "\u3000"};
  std::string text;
  for (uint64_t n = random.below(max_parts + 1); n > 0; --n) {
    if (random.below(4) == 0) text += ' ';
    text += parts[random.below(parts.size())];
  }
  return text;
}

/// Gives a tokenizer's training one text.
inline NextText once(const std::string& text) {
  return [text, given = false](std::string& stretch) mutable {
    if (given) return false;
    stretch = text;
    return given = true;
  };
}

/// The pieces of a model file with byte fallback: a few words behind the special pieces and the bytes.
inline std::vector<ScoredPiece> word_pieces() {
  std::vector<ScoredPiece> pieces{{"<unk>", 0}, {"<s>", 0}, {"</s>", 0}};
  for (int byte = 0; byte < 256; ++byte) pieces.push_back({fmt::format("<0x{:02X}>", byte), 0});
  // The pair with the highest score goes first: "he" before "th".
  for (const char* text : {"he", "\u2581t", "th", "\u2581the", "t", "h", "e", "\u2581"}) {
    pieces.push_back({text, -static_cast<float>(pieces.size())});
  }
  return pieces;
}

}  // namespace heed
