#include "text/tokenizers/numbered_pieces.h"

#include <utility>

#include "base/check.h"
#include "text/readers/sentencepiece_parts.h"

namespace heed {
namespace {

/// A model with the ids of a vocabulary.
class NumberedModel : public TokenModel {
 public:
  NumberedModel(std::unique_ptr<const TokenModel> model, const SentencePieceFile& file,
                std::shared_ptr<const Vocabulary> vocabulary)
      : model_(std::move(model)), vocabulary_(std::move(vocabulary)) {
    for (const SentencePieceEntry& piece : file.pieces) ids_.push_back(id_of(piece.text));
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    const size_t first = tokens.size();
    model_->tokenize(piece, tokens);
    for (size_t n = first; n < tokens.size(); ++n) number(piece, tokens[n]);
  }
  size_t first_part(std::string_view piece) const override { return model_->first_part(piece); }
  bool is_slow() const override { return model_->is_slow(); }

  std::optional<std::vector<std::vector<ModelToken>>> sample(std::string_view text,
                                                             const SubwordSampling& sampling,
                                                             Random& random) const override {
    auto drawn = model_->sample(text, sampling, random);
    if (!drawn) return drawn;
    for (std::vector<ModelToken>& tokens : *drawn) {
      for (ModelToken& token : tokens) number(text, token);
    }
    return drawn;
  }

 private:
  int32_t id_of(std::string_view piece) const {
    const int32_t id = vocabulary_->id(piece);
    return vocabulary_->is_special(id) || is_marian_language_code(piece) ? vocabulary_->unknown_id() : id;
  }

  /// The text of unknown pieces may be in the vocabulary, which has pieces of the other language, too.
  void number(std::string_view text, ModelToken& token) const {
    token.id = token.unknown ? id_of(text.substr(token.begin, token.end - token.begin))
                             : ids_[static_cast<size_t>(token.id)];
    token.unknown = token.id == vocabulary_->unknown_id();
  }

  std::unique_ptr<const TokenModel> model_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<int32_t> ids_;  // of the model's pieces
};

}  // namespace

bool is_marian_language_code(std::string_view piece) {
  return piece.starts_with(">>") && piece.ends_with("<<");
}

std::string_view leading_marian_code(std::string_view text) {
  if (!text.starts_with(">>")) return {};
  const size_t end = text.find("<<");
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 2);
}

std::string_view language_of_marian_code(std::string_view code) {
  HEED_CHECK(is_marian_language_code(code));
  return code.substr(2, code.size() - 4);
}

ModelTokenizer numbered_tokenizer(const SentencePieceFile& file, const std::string& name,
                                  const std::shared_ptr<const Vocabulary>& vocabulary,
                                  std::vector<AddedToken> in_text) {
  std::vector<int32_t> ids;
  for (const AddedToken& token : in_text) ids.push_back(token.id);
  PipelineParts parts = sentencepiece_parts(file, name, /*unmarks_unknown=*/true);
  parts.pieces = vocabulary->pieces();
  parts.added = AddedVocabulary(std::move(in_text));
  parts.model = std::make_unique<NumberedModel>(std::move(parts.model), file, vocabulary);
  return ModelTokenizer({.pipeline = TextPipeline(std::move(parts), static_cast<int32_t>(vocabulary->size())),
                         .vocabulary = vocabulary,
                         .in_text = std::move(ids)});
}

}  // namespace heed
