// How one side of a translation model's tokenizer turns text into pieces with ids, and back, without the
// special tokens around a text.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/pipeline/text_pipeline.h"
#include "text/subwords/sentencepiece.h"
#include "text/tokenizers/vocabulary.h"

namespace heed {

/// A piece of a text: its bytes [begin, end), its id and how it is shown.
struct CodedPiece {
  int32_t id = 0;
  std::string text = {};
  size_t begin = 0, end = 0;
};

/// Immutable and thread-safe.
class PieceCoder {
 public:
  virtual ~PieceCoder() = default;
  virtual std::vector<CodedPiece> encode(std::string_view text) const = 0;
  /// Subword regularization; see SentencePieceModel::sample. Throws kUsage if the tokenizer has none.
  virtual std::vector<std::vector<CodedPiece>> sample(std::string_view text, const SubwordSampling& sampling,
                                                      Random& random) const = 0;
  /// The text of ids without special tokens, which may begin or end with a space.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
};

/// A SentencePiece model whose pieces a vocabulary numbers: Marian, M2M-100, mBART. Special tokens and
/// language codes in a text are ordinary text.
class SentencePieceCoder : public PieceCoder {
 public:
  SentencePieceCoder(SentencePieceModel model, std::shared_ptr<const Vocabulary> vocabulary)
      : model_(std::move(model)), vocabulary_(std::move(vocabulary)) {}
  std::vector<CodedPiece> encode(std::string_view text) const override;
  std::vector<std::vector<CodedPiece>> sample(std::string_view text, const SubwordSampling& sampling,
                                              Random& random) const override;
  std::string decode(std::span<const int32_t> ids) const override;

 private:
  std::vector<CodedPiece> coded(std::vector<Piece> pieces) const;

  SentencePieceModel model_;
  std::shared_ptr<const Vocabulary> vocabulary_;
};

/// A tokenizer.json. `in_text`: special tokens that a text may spell, such as T5's <extra_id_0>; others are
/// ordinary text.
class PipelineCoder : public PieceCoder {
 public:
  PipelineCoder(TextPipeline pipeline, std::shared_ptr<const Vocabulary> vocabulary,
                std::vector<int32_t> in_text)
      : pipeline_(std::move(pipeline)), vocabulary_(std::move(vocabulary)), in_text_(std::move(in_text)) {}
  std::vector<CodedPiece> encode(std::string_view text) const override;
  std::vector<std::vector<CodedPiece>> sample(std::string_view text, const SubwordSampling& sampling,
                                              Random& random) const override;
  std::string decode(std::span<const int32_t> ids) const override;

 private:
  TextPipeline pipeline_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<int32_t> in_text_;
};

/// ">>fr<<": the target language at the beginning of the source, for multilingual Marian models.
bool is_marian_language_code(std::string_view piece);
/// The language of such a code: "fra".
std::string_view language_of_marian_code(std::string_view code);

}  // namespace heed
