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

#include "text/pipeline/added_vocabulary.h"
#include "text/pipeline/segmentation/token_cache.h"
#include "text/pipeline/segmentation/token_model.h"
#include "text/tokenizers/text_tokenizer.h"
#include "text/tokenizers/text_tokenizer_config.h"

namespace heed {

/// Merges the pieces `left` and `right` into the piece `joined`.
struct BpeMerge {
  int32_t left = 0, right = 0, joined = 0;
};

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

class ByteBpeTokenizer : public LiteralTextTokenizer {
 public:
  static constexpr const char* kEndOfText = "<|endoftext|>";

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
  const AddedVocabulary& added_tokens() const override { return added_; }

 private:
  ByteBpeModel model_;
  AddedVocabulary added_;
  std::vector<std::string> written_;  // pieces as vocab.json spells them; empty for added tokens
  std::unique_ptr<TokenModel> bpe_;
  std::vector<bool> has_byte_;  // whether a byte is in the vocabulary
  mutable TokenCaches caches_;
};

/// Reads vocab.json and merges.txt of a directory. Throws kNotFound, kFile, or kFormat with the position.
ByteBpeModel read_byte_bpe(const std::string& directory, const TextTokenizerConfig& config);
void write_byte_bpe(const std::string& directory, const ByteBpeModel& model);

}  // namespace heed
