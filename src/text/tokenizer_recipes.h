// What Heed makes of a tokenizer.json (text/tokenizer_json.h): each recipe knows one kind of tokenizer, takes
// every step of the file that it applies, and refuses what is left by its name, so that nothing is cut in
// another way than the file says.
//
//   byte-level BPE   GPT-2: ByteLevel with its pattern, BPE
//   marked BPE       Llama 2, Mistral 7B: spaces become "▁", one is put in front, BPE with bytes for other
//   characters WordPiece        BERT: BertNormalizer, BertPreTokenizer, WordPiece, [CLS] and [SEP]
#pragma once

#include <memory>
#include <string>

#include "text/byte_bpe.h"
#include "text/marked_bpe.h"
#include "text/text_tokenizer_config.h"
#include "text/tokenizer_json.h"
#include "text/wordpiece_config.h"

namespace heed {

enum class TokenizerRecipe { kByteBpe, kMarkedBpe, kWordPiece };

/// Which recipe fits the model of a file. Throws kFormat, with the model's type, where none does.
TokenizerRecipe recipe_of(const TokenizerJson& json);

/// Of a language model. `config` is tokenizer_config.json, which names the tokens with a role. All throw
/// kFormat, naming the file and the step, for whatever they do not apply, and where tokenizer_config.json
/// contradicts tokenizer.json.
ByteBpeModel byte_bpe_of(const TokenizerJson& json, const TextTokenizerConfig& config);
MarkedBpeModel marked_bpe_of(const TokenizerJson& json, const TextTokenizerConfig& config);

/// Pieces and settings of BERT. `settings` are those of tokenizer_config.json.
struct WordPieceRecipe {
  std::vector<std::string> pieces;
  WordPieceSettings settings;
};
WordPieceRecipe wordpiece_of(const TokenizerJson& json, const WordPieceConfig& config);

}  // namespace heed
