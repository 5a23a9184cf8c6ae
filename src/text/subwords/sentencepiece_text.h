// A SentencePiece model as a lossless text tokenizer whose ids are the model's indices: Llama's
// tokenizer.model.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/tokenizers/text_tokenizer.h"
#include "text/tokenizers/text_tokenizer_config.h"

namespace heed {

class SentencePieceTextTokenizer : public LiteralTextTokenizer {
 public:
  SentencePieceTextTokenizer(SentencePieceModel model, bool starts_every_text);
  static std::unique_ptr<TextTokenizer> load(const std::string& directory, const TextTokenizerConfig& config);
  static std::unique_ptr<TextTokenizer> train(const TextTokenizerOptions& options, const NextText& text);

  void save(const std::string& directory) const override;
  std::string tokenizer_json() const override;
  std::string beyond_hugging_face() const override;
  TextTokenizerKind kind() const override { return TextTokenizerKind::kSentencePiece; }
  int32_t size() const override { return model_.size(); }
  std::optional<int32_t> start_id() const override;
  bool starts_every_text() const override { return starts_every_text_ && model_.start() >= 0; }
  std::optional<int32_t> end_id() const override;
  std::string bytes(int32_t id) const override;
  std::string piece(int32_t id) const override;

 protected:
  void tokenize(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;
  const AddedVocabulary& added_tokens() const override { return added_; }
  bool adds_space() const override { return adds_space_; }

 private:
  SentencePieceModel model_;
  AddedVocabulary added_;
  bool starts_every_text_;
  bool adds_space_;
};

}  // namespace heed
