// The tokenizer of a model: text to token ids and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/error.h"
#include "heed/translator.h"

namespace heed {

/// The two languages of a translation model, which may have a vocabulary each. Other models have one
/// tokenizer, and both sides are the same.
enum class TextSide { kSource, kTarget };

struct TokenizeOptions {
  TextSide side = TextSide::kSource;
  bool frame = true;  ///< with the special tokens that the model expects around a text
  /// Special tokens in the text, such as <|endoftext|> and [MASK], stand for themselves; otherwise they are
  /// ordinary text. Not of translation models.
  bool special_tokens = false;
};

/// The tokens of a text. All lists have the same length.
struct Tokens {
  std::vector<int32_t> ids{};
  std::vector<std::string> pieces{};  ///< Tokenizer::piece() of each id
  /// The bytes [begin, end) of the text that each token comes from, in whole characters, whatever
  /// normalization made of them: several tokens may share a character, as in byte-level BPE. Empty at the
  /// beginning or end of the text for the special tokens around it.
  std::vector<std::pair<size_t, size_t>> offsets{};
  /// The text that each token comes from: 0, or 1 for the second text of a pair; -1 for the special tokens
  /// around.
  std::vector<int> texts{};
  std::vector<int32_t> types{};  ///< what an encoder reads as token types
};

/// The ids of special tokens; unset where the vocabulary has none.
struct SpecialTokens {
  std::optional<int32_t> end{}, unknown{}, padding{}, mask{};
  /// Those that the model expects around a text, such as the token of its language.
  std::vector<int32_t> before{}, after{};
};

/// The tokenizer of a model directory. Immutable and thread-safe.
class Tokenizer {
 public:
  /// Opens the tokenizer of a directory of docs/models.md, without reading the weights. `languages` as of
  /// Translator. Throws Error.
  explicit Tokenizer(const std::string& directory, const Languages& languages = {});
  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// The tokens of a text as it is: unlike Translator, this neither splits sentences nor changes capitals.
  /// Throws kText for invalid UTF-8, and for text that the vocabulary cannot express; kUsage for
  /// `special_tokens` of a translation model, and for a source without a target language if the model needs
  /// one.
  Tokens encode(const std::string& text, const TokenizeOptions& options = {}) const;
  /// The tokens of two texts, as an encoder reads a pair. Offsets are in the text that a token comes from;
  /// those of special tokens in the text before them. Throws as encode(), and kUsage for other models than
  /// encoders.
  Tokens encode_pair(const std::string& first, const std::string& second,
                     const TokenizeOptions& options = {}) const;

  /// The text of ids, without special tokens; of a translation also without white space around. Bytes that
  /// are not UTF-8, of a character that was cut, become U+FFFD. Throws kUsage for an invalid id.
  std::string decode(const std::vector<int32_t>& ids, TextSide side = TextSide::kTarget) const;
  /// How an id is shown, in UTF-8: "▁the" begins with a space, "##ing" continues a word, "<0x0A>" is a byte,
  /// "</s>" a special token. Throws kUsage for an invalid id.
  std::string piece(int32_t id, TextSide side = TextSide::kTarget) const;
  /// The id that is shown so; unset if there is none.
  std::optional<int32_t> find(const std::string& piece, TextSide side = TextSide::kTarget) const;

  /// Ids are 0 to vocabulary_size() - 1. A model may have more (Model::vocabulary_size()), which no text
  /// uses.
  int32_t vocabulary_size(TextSide side = TextSide::kTarget) const;
  SpecialTokens special_tokens(TextSide side = TextSide::kTarget) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace heed
