// Tokenizers of language models.
//
// A language model reads and writes any text, including line ends. Unlike the tokenizer of a translation
// model (text/tokenizers/tokenizer.h), these therefore neither strip nor add text, and every id decodes to
// bytes of its own:
//
//   bytes           256 ids, one per byte
//   characters      one id per character of the training text; other characters are an error
//   byte-level BPE  bytes, combined by learnt merges (Sennrich et al., 2016; Radford et al., 2019):
//   vocab.json
//                   and merges.txt of GPT-2
//   SentencePiece   pieces of a SentencePiece model (Kudo and Richardson, 2018): Llama's tokenizer.model
//
// The first three are lossless. If a directory has a tokenizer.json, it takes precedence, and defines any
// tokenizer (text/tokenizers/json_text_tokenizer.h). Otherwise the file names determine the kind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/model_inventory.h"
#include "text/pipeline/added_vocabulary.h"
#include "text/subwords/sentencepiece.h"
#include "text/tokenizers/encoding.h"

namespace heed {

enum class TextTokenizerKind {
  kBytes,
  kCharacters,
  kByteBpe,
  kSentencePiece,
  kIds,  ///< no tokenizer: texts are token ids separated by white space (IdTokenizer)
};

/// "bytes", "characters", "bpe" or "sentencepiece", as in options and recipes; the inverse throws kUsage.
const char* name_of(TextTokenizerKind kind);
TextTokenizerKind text_tokenizer_kind(std::string_view name);

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

/// Immutable and thread-safe.
class TextTokenizer {
 public:
  virtual ~TextTokenizer() = default;

  /// Loads the files of save() or Hugging Face. Throws kNotFound if the directory has no text tokenizer,
  /// kFile, or kFormat with the file name.
  static std::unique_ptr<TextTokenizer> load(const ModelInventory& files);
  static std::unique_ptr<TextTokenizer> load(const std::string& directory) {
    return load(ModelInventory(directory));
  }
  /// Whether a directory has tokenizer files.
  static bool is_in(const ModelInventory& files);

  /// Trains on a text in chunks, which should end at line ends. Deterministic. Throws kText if there is no
  /// text, kUsage for invalid options.
  static std::unique_ptr<TextTokenizer> train(const TextTokenizerOptions& options, const NextText& text);

  /// Writes tokenizer_config.json and the files of this kind; the directory must exist. Throws kFile.
  virtual void save(const std::string& directory) const = 0;

  /// The content of the tokenizer.json that save() writes for other libraries; empty if not needed.
  virtual std::string tokenizer_json() const { return ""; }

  /// Why Hugging Face's library cannot reproduce this tokenizer; empty if it can.
  virtual std::string beyond_hugging_face() const { return ""; }

  virtual TextTokenizerKind kind() const = 0;
  /// Ids are 0 to size() - 1.
  virtual int32_t size() const = 0;

  /// The start token (GPT-2's <|endoftext|>, Llama's <s>) if any; and whether it precedes every text, as in
  /// Llama, or only stands for an empty prompt, as in GPT-2.
  virtual std::optional<int32_t> start_id() const { return {}; }
  virtual bool starts_every_text() const { return false; }
  /// The end token.
  virtual std::optional<int32_t> end_id() const { return {}; }
  /// Whether an id is a special token, which decodes to no text.
  bool is_special(int32_t id) const { return added_tokens().is_special(id); }

  /// Special tokens in the text ("</s>") are ordinary text unless `special_tokens`.
  struct Options {
    bool special_tokens = false;
  };
  /// Tokenizes a text, without start and end token. Throws kText for characters unknown to a kCharacters
  /// tokenizer.
  std::vector<int32_t> ids(std::string_view text, const Options& options) const;
  std::vector<int32_t> ids(std::string_view text) const { return ids(text, {}); }
  /// ids() with pieces and spans. Spans are in order; if several tokens share a character, their spans
  /// split it.
  Encoding encode(std::string_view text, const Options& options) const;
  Encoding encode(std::string_view text) const { return encode(text, {}); }
  /// The model input for continuing `text`: its ids, after start_id() if every text begins with it or there
  /// are no ids.
  /// Throws kUsage for an empty text if there is no start token.
  std::vector<int32_t> prompt_ids(std::string_view text, const Options& options) const;
  std::vector<int32_t> prompt_ids(std::string_view text) const { return prompt_ids(text, {}); }

  /// The bytes of an id, possibly a part of a character; empty for special tokens. Throws kUsage for an
  /// invalid id.
  virtual std::string bytes(int32_t id) const = 0;
  /// Decodes ids by concatenating their bytes. SentencePiece tokenizers remove the leading space, unless the
  /// ids `continue` another text.
  std::string decode(std::span<const int32_t> ids, bool continues = false) const;
  /// The display form of an id in UTF-8: "▁the" begins with a space, "<0x0A>" is a byte, "<|endoftext|>" a
  /// special token.
  virtual std::string piece(int32_t id) const;

 protected:
  struct Token {
    int32_t id = 0;
    size_t begin = 0, end = 0;  // bytes of the text
  };
  /// All tokens of a text, with spans in order.
  virtual std::vector<Token> tokens(std::string_view text, const Options& options) const = 0;
  /// The added tokens; special ones are matched only on request.
  virtual const AddedVocabulary& added_tokens() const;
  /// Whether bytes() adds a space before the first word.
  virtual bool adds_space() const { return false; }
  void require_id(int32_t id) const;
};

/// A tokenizer that leaves the text as it is, and whose added tokens are matched literally.
class LiteralTextTokenizer : public TextTokenizer {
 protected:
  std::vector<Token> tokens(std::string_view text, const Options& options) const final;
  /// Appends the tokens of text[begin, end), which contains no added tokens.
  virtual void tokenize(std::string_view text, size_t begin, size_t end,
                        std::vector<Token>& tokens) const = 0;
};

/// Incremental decoding for streaming: returns only complete characters. Invalid UTF-8 becomes U+FFFD.
class TextStream {
 public:
  /// `continues`: see TextTokenizer::decode. The tokenizer must outlive this.
  explicit TextStream(const TextTokenizer& tokenizer, bool continues = false)
      : tokenizer_(tokenizer), at_beginning_(!continues) {}
  /// The newly completed text; may be empty.
  std::string push(int32_t id);
  /// The remaining text at the end.
  std::string finish();

 private:
  const TextTokenizer& tokenizer_;
  bool at_beginning_;
  std::string waiting_;  // bytes of an incomplete character
};

}  // namespace heed
