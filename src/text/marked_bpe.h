// BPE over characters as in Llama 2's tokenizer.json: spaces are replaced by "▁", one is prepended to the
// text, merges apply to the whole text, and characters that are not pieces become byte pieces "<0xE4>" (byte
// fallback: Kudo and Richardson, 2018). The same model's tokenizer.model is read by
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

/// Where a "▁" is prepended.
enum class LeadingMark {
  kNone,
  kAlways,           ///< to every part of the text between added tokens (normalizer "Prepend")
  kUnlessThere,      ///< the same, unless it begins with a space (Metaspace, "always")
  kBeginUnlessThere  ///< only to the beginning of the whole text, unless it is a space (Metaspace, "first")
};

struct MarkedBpeModel {
  std::string path;  ///< path of the tokenizer.json, which save() copies
  std::vector<std::string> pieces;
  std::vector<BpeMerge> merges;
  std::vector<AddedToken> added;
  LeadingMark mark = LeadingMark::kAlways;
  bool strips_space = true;      ///< whether decoding removes one leading space
  int32_t start = -1, end = -1;  ///< ids, or -1
  bool starts_every_text = false;
};

class MarkedBpeTokenizer : public TextTokenizer {
 public:
  /// Throws kFormat if one of the 256 byte pieces is missing.
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
  void tokenize(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;
  const AddedTokens& added_tokens() const override { return added_; }
  bool adds_space() const override { return model_.strips_space; }

 private:
  /// The initial symbols of text[begin, end), with a zero-length "▁" prepended if `marked`.
  std::vector<BpeSymbol> symbols_of(std::string_view text, size_t begin, size_t end, bool marked) const;

  MarkedBpeModel model_;
  AddedTokens added_;
  BpeMerges merges_;
  std::unordered_map<std::string_view, int32_t> ids_;  // views of model_.pieces
  std::vector<int32_t> id_of_byte_;
  std::vector<int> byte_of_id_;  // -1 for other pieces
  bool crosses_words_ = false;   // whether a merge produces a piece with a "▁" after another character
};

}  // namespace heed
