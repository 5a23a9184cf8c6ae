// Byte-level BPE: every byte is a piece, and learnt merges combine adjacent pieces within a word, so that no
// character is unknown (Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword
// units", 2016; over bytes: Radford et al., "Language models are unsupervised multitask learners", 2019).
//
// vocab.json and merges.txt write each byte as a printable character: itself if printable in Latin-1, else
// the next free character from U+0100 ("Ġ" is the space).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "text/pipeline/added_vocabulary.h"
#include "text/readers/merges_file.h"
#include "text/tokenizers/config/language_tokenizer_config.h"
#include "text/tokenizers/language_tokenizer.h"

namespace heed {

inline constexpr const char* kEndOfText = "<|endoftext|>";

/// The data of a byte-level BPE tokenizer.
struct ByteBpeFiles {
  std::vector<std::string> pieces = {};  ///< by id, as vocab.json has them, with the added tokens
  std::vector<WrittenMerge> merges = {};
  std::vector<AddedToken> added = {};
  std::optional<int32_t> start = {}, end = {};
  bool starts_every_text = false;
};

ModelTokenizer byte_bpe_tokenizer(ByteBpeFiles files);

/// Reads vocab.json and merges.txt of a directory. Throws kNotFound, kFile, or kFormat with the position.
ByteBpeFiles read_byte_bpe(const std::string& directory, const TextTokenizerConfig& config);

/// Learns merges up to the vocabulary size: always the most frequent adjacent pair, ties broken by lower ids,
/// no pair that occurs only once. The ids are the 256 bytes in the order of their characters, the merges, and
/// <|endoftext|>.
ByteBpeFiles train_byte_bpe(int vocabulary_size, const NextText& text);

}  // namespace heed
