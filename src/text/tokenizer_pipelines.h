// The pipelines of tokenizer.json (text/tokenizer_json.h) that Heed supports. Steps that a pipeline does not
// support are refused by name, so that texts are always tokenized as the file says.
//
//   byte-level BPE  GPT-2: ByteLevel with its pattern, BPE
//   marked BPE      Llama 2, Mistral 7B: spaces become "▁", one is prepended, BPE with byte fallback
//   WordPiece       BERT: BertNormalizer, BertPreTokenizer, WordPiece, [CLS] and [SEP]
#pragma once

#include <memory>
#include <string>

#include "text/byte_bpe.h"
#include "text/marked_bpe.h"
#include "text/text_tokenizer_config.h"
#include "text/tokenizer_json.h"
#include "text/wordpiece_config.h"

namespace heed {

enum class TokenizerPipeline { kByteBpe, kMarkedBpe, kWordPiece };

/// The pipeline for the model type of a file. Throws kFormat for an unsupported type.
TokenizerPipeline pipeline_of(const TokenizerJson& json);

/// Language models. `config` is tokenizer_config.json, which names the special tokens. All functions throw
/// kFormat, with file and step, for unsupported steps, and if tokenizer_config.json contradicts
/// tokenizer.json.
ByteBpeModel byte_bpe_of(const TokenizerJson& json, const TextTokenizerConfig& config);
MarkedBpeModel marked_bpe_of(const TokenizerJson& json, const TextTokenizerConfig& config);

/// Pieces and settings of a WordPiece tokenizer.
struct WordPieceModel {
  std::vector<std::string> pieces;
  WordPieceSettings settings;
};
WordPieceModel wordpiece_of(const TokenizerJson& json, const WordPieceConfig& config);

}  // namespace heed
