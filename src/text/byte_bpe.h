// Byte-level BPE: every byte is a piece, and learnt merges combine adjacent pieces within a word, so that no
// character is unknown (Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword
// units", 2016; over bytes: Radford et al., "Language models are unsupervised multitask learners", 2019).
//
// vocab.json and merges.txt write each byte as a printable character: itself if printable in Latin-1, else
// the next free character from U+0100 ("Ġ" is the space).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe_merges.h"
#include "text/text_tokenizer.h"
#include "text/text_tokenizer_config.h"

namespace heed {

/// The data of a byte-level BPE tokenizer.
struct ByteBpeModel {
  /// The bytes of each id; for an added token its content.
  std::vector<std::string> pieces;
  std::vector<BpeMerge> merges;
  std::vector<AddedToken> added;  ///< special ones decode to no text
  /// Ids of special tokens, or -1.
  int32_t start = -1, end = -1;
  bool starts_every_text = false;
};

class ByteBpeTokenizer : public TextTokenizer {
 public:
  explicit ByteBpeTokenizer(ByteBpeModel model);
  static std::unique_ptr<TextTokenizer> load(const std::string& directory, const TextTokenizerConfig& config);
  /// Learns merges up to the vocabulary size: always the most frequent adjacent pair, ties broken by lower
  /// ids, no pair that occurs only once. The ids are the 256 bytes in the order of their characters, the
  /// merges, and <|endoftext|>.
  static std::unique_ptr<TextTokenizer> train(int vocabulary_size, const NextText& text);

  void save(const std::string& directory) const override;
  TextTokenizerKind kind() const override { return TextTokenizerKind::kByteBpe; }
  int32_t size() const override { return static_cast<int32_t>(model_.pieces.size()); }
  std::optional<int32_t> start_id() const override;
  bool starts_every_text() const override { return model_.starts_every_text; }
  std::optional<int32_t> end_id() const override;
  std::string bytes(int32_t id) const override;
  std::string piece(int32_t id) const override;

 protected:
  void tokenize(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;
  const AddedTokens& added_tokens() const override { return added_; }

 private:
  /// Tokenizes one word.
  std::vector<int32_t> merge(std::string_view word) const;

  ByteBpeModel model_;
  AddedTokens added_;
  BpeMerges merges_;
  std::vector<int32_t> id_of_byte_;  // -1 if not in the vocabulary
};

/// The character of each byte, in UTF-8; and the bytes in the order of their characters.
const std::vector<std::string>& characters_of_bytes();
std::vector<unsigned char> bytes_in_character_order();

/// Converts pieces, except added tokens, from printable characters to bytes. Throws kFormat, with `name`.
void decode_pieces(const std::string& name, ByteBpeModel& model);

/// Reads vocab.json and merges.txt of a directory. Throws kNotFound, kFile, or kFormat with the position.
ByteBpeModel read_byte_bpe(const std::string& directory, const TextTokenizerConfig& config);
void write_byte_bpe(const std::string& directory, const ByteBpeModel& model);

}  // namespace heed
