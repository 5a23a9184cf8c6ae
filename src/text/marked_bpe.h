// BPE over characters as Llama 2 has it in tokenizer.json: spaces are written "▁", one is put in front of a
// text, the merges are applied to the whole of it, and characters that are no pieces are spelt as bytes,
// "<0xE4>" (Kudo and Richardson, 2018, call that byte fallback). tokenizer.model of the same model is read by
// text/sentencepiece_text.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/added_tokens.h"
#include "text/bpe_merges.h"
#include "text/text_tokenizer.h"

namespace heed {

/// Where a "▁" is put that the text does not have.
enum class LeadingMark {
  kNone,
  kAlways,           ///< before every stretch of text between added tokens (normalizer "Prepend")
  kUnlessThere,      ///< the same, but not before a space (Metaspace, "always")
  kBeginUnlessThere  ///< only at the beginning of the whole text, and not before a space (Metaspace, "first")
};

struct MarkedBpeModel {
  std::string path;  ///< the tokenizer.json, which save() copies
  std::vector<std::string> pieces;
  std::vector<BpeMerge> merges;
  std::vector<AddedToken> added;
  LeadingMark mark = LeadingMark::kAlways;
  bool strips_space = true;      ///< whether decoding leaves out one space at the beginning of a text
  int32_t start = -1, end = -1;  ///< of the pieces, or -1
  bool starts_every_text = false;
};

class MarkedBpeTokenizer : public TextTokenizer {
 public:
  /// Throws kFormat where one of the 256 byte pieces is missing.
  explicit MarkedBpeTokenizer(MarkedBpeModel model);

  void save(const std::string& directory) const override;
  TextTokenizerKind kind() const override { return TextTokenizerKind::kSentencePiece; }
  int32_t size() const override { return static_cast<int32_t>(model_.pieces.size()); }
  std::optional<int32_t> start_id() const override;
  bool starts_every_text() const override { return model_.starts_every_text; }
  std::optional<int32_t> end_id() const override;
  std::string bytes(int32_t id) const override;
  std::string piece(int32_t id) const override;

 protected:
  void cut(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;
  const AddedTokens& added_tokens() const override { return added_; }
  bool adds_space() const override { return model_.strips_space; }

 private:
  /// The symbols of text[begin, end) before any merge, behind a "▁" of no bytes if `marked`.
  std::vector<BpeSymbol> symbols_of(std::string_view text, size_t begin, size_t end, bool marked) const;

  MarkedBpeModel model_;
  AddedTokens added_;
  BpeMerges merges_;
  std::unordered_map<std::string_view, int32_t> ids_;  // views of model_.pieces
  std::vector<int32_t> id_of_byte_;
  std::vector<int> byte_of_id_;  // -1 for what is no byte piece
  bool crosses_words_ = false;   // whether a merge makes a piece with a "▁" behind another character
};

}  // namespace heed
