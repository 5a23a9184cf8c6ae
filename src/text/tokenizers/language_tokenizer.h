// Tokenizers of language models.
//
// A language model reads and writes any text, including line ends. Unlike the tokenizer of a translation
// model, these therefore neither strip nor add text, and every id decodes to bytes of its own:
//
//   bytes           256 ids, one per byte
//   characters      one id per character of the training text; other characters are an error
//   byte-level BPE  bytes, combined by learnt merges (text/tokenizers/byte_bpe.h): vocab.json and merges.txt
//                   of GPT-2
//   SentencePiece   pieces of a SentencePiece model (Kudo and Richardson, 2018): Llama's tokenizer.model
//
// The first three are lossless. If a directory has a tokenizer.json, it takes precedence, and defines any
// tokenizer. Otherwise the file names determine the kind.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/files/model_inventory.h"
#include "text/tokenizers/tokenizer.h"
#include "text/training/sentencepiece_trainer.h"

namespace heed {

enum class TextTokenizerKind {
  kBytes,
  kCharacters,
  kByteBpe,
  kSentencePiece,
};

/// "bytes", "characters", "bpe" or "sentencepiece", as in options and recipes.
const char* name_of(TextTokenizerKind kind);

/// Reads the next chunk of a text, of any length; returns false at the end.
using NextText = std::function<bool(std::string&)>;

struct TextTokenizerOptions {
  TextTokenizerKind kind = TextTokenizerKind::kByteBpe;
  /// For kByteBpe (including the 256 bytes and the end token) and kSentencePiece; other kinds ignore it.
  int vocabulary_size = 4096;
  /// For kSentencePiece, which is trained without normalization, to be lossless.
  SubwordType subwords = SubwordType::kBpe;
  uint64_t seed = 1;  ///< of the sample of lines for training kSentencePiece
};

/// Whether a directory has tokenizer files of a language model.
bool has_language_tokenizer(const ModelInventory& files);

/// Loads Heed's files or those of Hugging Face. Throws kNotFound if the directory has no such tokenizer,
/// kFile, or kFormat with the file name: for an unsupported component of a tokenizer.json, for tokens that
/// cannot be decoded one by one, for a post-processor that puts more than one token before a text or any
/// after it, and if files contradict each other.
ModelTokenizer load_language_tokenizer(const ModelInventory& files);
inline ModelTokenizer load_language_tokenizer(const std::string& directory) {
  return load_language_tokenizer(ModelInventory(directory));
}

/// Trains on a text in chunks, which should end at line ends. Deterministic. Throws kText if there is no
/// text, kUsage for invalid options.
ModelTokenizer train_language_tokenizer(const TextTokenizerOptions& options, const NextText& text);

ModelTokenizer byte_tokenizer();
/// For models without a tokenizer: the text "1 403 407" stands for these ids. `start` -1: none.
ModelTokenizer id_tokenizer(int32_t size, int32_t start);
/// The content of a SentencePiece model; `name` (the file) is used in errors.
ModelTokenizer sentencepiece_tokenizer(std::string model, const std::string& name, bool starts_every_text);

}  // namespace heed
