// Plain text to the ids of a language model and back.
//
// A language model reads any text, line ends and all, and what it writes is shown as it comes. So unlike the
// tokenizer of a translation model (text/tokenizer.h), nothing is trimmed or added, and every id stands for
// bytes of its own:
//
//   bytes           256 ids, one for each byte; no file can hold anything that they cannot spell
//   characters      one id for each character of the training text; others are an error
//   byte-level BPE  bytes, joined by merges learnt from text (Sennrich et al., 2016; Radford et al., 2019):
//                   GPT-2's vocab.json and merges.txt
//   SentencePiece   pieces of a SentencePiece model (Kudo and Richardson, 2018): Llama's tokenizer.model
//
// The first, second and third give back every text to the byte. Where a directory holds tokenizer.json, it
// decides, and the last two are made of what it says (text/tokenizer_recipes.h). Else the names of the files
// tell the kind.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/encoding.h"
#include "text/sentencepiece.h"

namespace heed {

enum class TextTokenizerKind {
  kBytes,
  kCharacters,
  kByteBpe,
  kSentencePiece,
  kIds,  ///< none: texts are numbers with white space between them (IdTokenizer)
};

/// "bytes", "characters", "bpe" or "sentencepiece", as in options and recipes. The second throws kUsage.
const char* name_of(TextTokenizerKind kind);
TextTokenizerKind text_tokenizer_kind(std::string_view name);

/// Gives the next stretch of a text, of any length, and returns whether there was one.
using NextText = std::function<bool(std::string&)>;

struct TextTokenizerOptions {
  TextTokenizerKind kind = TextTokenizerKind::kByteBpe;
  /// Of kByteBpe (256 bytes and the end of a text included) and kSentencePiece; the others have what they
  /// need.
  int vocabulary_size = 4096;
  /// Of kSentencePiece. Its normalisation is none, so that texts come back as they were.
  SubwordType subwords = SubwordType::kBpe;
  uint64_t seed = 1;  ///< of the sample of lines that kSentencePiece learns from
};

/// Immutable; all functions may be called from several threads at once.
class TextTokenizer {
 public:
  virtual ~TextTokenizer() = default;

  /// Reads what save() or Hugging Face wrote. Throws kNotFound where the directory holds no tokenizer of
  /// text, kFile, or kFormat with the file that is wrong.
  static std::unique_ptr<TextTokenizer> load(const std::string& directory);
  /// Whether a directory holds files of a tokenizer at all.
  static bool is_in(const std::string& directory);

  /// Learns from a text that comes in stretches; a stretch should end where a line does. The same text and
  /// options give the same tokenizer. Throws kText where there is no text, kUsage for options that cannot be.
  static std::unique_ptr<TextTokenizer> train(const TextTokenizerOptions& options, const NextText& text);

  /// Writes tokenizer_config.json and the files of its kind; the directory must exist. Throws kFile.
  virtual void save(const std::string& directory) const = 0;

  /// The content of the tokenizer.json that save() writes for other libraries; empty where they need none.
  virtual std::string tokenizer_json() const { return ""; }

  /// Why Hugging Face's library cannot be told to do the same, by no file; empty where it can.
  virtual std::string beyond_hugging_face() const { return ""; }

  virtual TextTokenizerKind kind() const = 0;
  /// Ids are 0 to size() - 1.
  virtual int32_t size() const = 0;

  /// The id that a text begins with (GPT-2's <|endoftext|>, Llama's <s>), where there is one; and whether the
  /// model expects it before every text, as Llama does, or only where there is no other beginning, as GPT-2.
  virtual std::optional<int32_t> start_id() const { return {}; }
  virtual bool starts_every_text() const { return false; }
  /// The id that ends a text.
  virtual std::optional<int32_t> end_id() const { return {}; }
  /// Whether an id stands for no text: one of those above, or one like them.
  bool is_special(int32_t id) const { return added_tokens().is_special(id); }

  /// Text that spells a special token ("</s>") is ordinary text, unless `special_tokens`.
  struct Options {
    bool special_tokens = false;
  };
  /// The text's ids, without start and end. Throws kText for characters that a kCharacters tokenizer does not
  /// have.
  std::vector<int32_t> ids(std::string_view text, const Options& options) const;
  std::vector<int32_t> ids(std::string_view text) const { return ids(text, {}); }
  /// The same with pieces and spans. Spans never fall; one that is not the first ends within a character
  /// where several tokens share it.
  Encoding encode(std::string_view text, const Options& options) const;
  Encoding encode(std::string_view text) const { return encode(text, {}); }
  /// What a model reads before it continues `text`: its ids, after start_id() where every text has it or
  /// where there would be none. Throws kUsage for an empty text where there is no such id.
  std::vector<int32_t> prompt_ids(std::string_view text, const Options& options) const;
  std::vector<int32_t> prompt_ids(std::string_view text) const { return prompt_ids(text, {}); }

  /// The bytes of an id, which need not be whole characters; none for special ones. Throws kUsage for an id
  /// outside.
  virtual std::string bytes(int32_t id) const = 0;
  /// The bytes of all ids, in a row: the very text that they were made of, but for a SentencePiece
  /// tokenizer, which leaves out the space before a text that begins here (not where ids `continue` another).
  std::string decode(std::span<const int32_t> ids, bool continues = false) const;
  /// How an id is shown, in UTF-8: "▁the" begins with a space, "<0x0A>" is a byte that is no letter by
  /// itself,
  /// "<|endoftext|>" a special token.
  virtual std::string piece(int32_t id) const;

 protected:
  struct Token {
    int32_t id = 0;
    size_t begin = 0, end = 0;  // bytes of the text
  };
  /// Appends the tokens of text[begin, end), in which nothing is special.
  virtual void cut(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const = 0;
  /// The tokens that are found as they are spelt: special ones (start_id() and its like) only where asked
  /// for.
  virtual const AddedTokens& added_tokens() const;
  /// Whether bytes() puts a space before the first word of a text that the text does not have.
  virtual bool adds_space() const { return false; }
  void require_id(int32_t id) const;

 private:
  std::vector<Token> tokens(std::string_view text, const Options& options) const;
};

/// Turns ids into text as they come, never half a character: bytes wait until theirs is whole. What is not
/// UTF-8 becomes U+FFFD.
class TextStream {
 public:
  /// `continues`: as of TextTokenizer::decode. The tokenizer must outlive this.
  explicit TextStream(const TextTokenizer& tokenizer, bool continues = false)
      : tokenizer_(tokenizer), at_beginning_(!continues) {}
  /// The text that is certain now; may be empty.
  std::string push(int32_t id);
  /// What is left at the end.
  std::string finish();

 private:
  const TextTokenizer& tokenizer_;
  bool at_beginning_;
  std::string waiting_;  // the beginning of a character
};

}  // namespace heed
