#include "text/tokenizers/text_tokenizer.h"

#include <utility>

#include "base/check.h"
#include "text/readers/tokenizer_file.h"
#include "text/subwords/byte_bpe.h"
#include "text/subwords/sentencepiece_text.h"
#include "text/tokenizers/json_text_tokenizer.h"
#include "text/tokenizers/plain_tokenizers.h"
#include "text/tokenizers/shown_piece.h"
#include "text/tokenizers/text_tokenizer_config.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

const std::vector<std::pair<const char*, TextTokenizerKind>>& kinds() {
  static const std::vector<std::pair<const char*, TextTokenizerKind>> table{
      {"bytes", TextTokenizerKind::kBytes},
      {"characters", TextTokenizerKind::kCharacters},
      {"bpe", TextTokenizerKind::kByteBpe},
      {"sentencepiece", TextTokenizerKind::kSentencePiece},
      {"ids", TextTokenizerKind::kIds}};
  return table;
}

}  // namespace

const char* name_of(TextTokenizerKind kind) {
  for (const auto& [name, each] : kinds()) {
    if (each == kind) return name;
  }
  HEED_CHECK(false);
}

TextTokenizerKind text_tokenizer_kind(std::string_view name) {
  for (const auto& [each, kind] : kinds()) {
    if (each == name && kind != TextTokenizerKind::kIds) return kind;
  }
  fail(ErrorKind::kUsage, "unknown tokenizer '{}': choose bytes, characters, bpe or sentencepiece", name);
}

bool TextTokenizer::is_in(const ModelInventory& files) {
  return find_text_tokenizer(files, read_text_tokenizer_config(files)).has_value();
}

namespace {

std::unique_ptr<TextTokenizer> load_kind(TextTokenizerKind kind, const std::string& directory,
                                         const TextTokenizerConfig& config) {
  switch (kind) {
    case TextTokenizerKind::kBytes:
      return std::make_unique<ByteTokenizer>();
    case TextTokenizerKind::kCharacters:
      return CharacterTokenizer::load(directory);
    case TextTokenizerKind::kByteBpe:
      return ByteBpeTokenizer::load(directory, config);
    case TextTokenizerKind::kSentencePiece:
      return SentencePieceTextTokenizer::load(directory, config);
    case TextTokenizerKind::kIds:
      break;
  }
  HEED_CHECK(false);
}

/// Throws if there is a tokenizer.json and it does not match Heed's own tokenizer files.
void check_own_json(const ModelInventory& files, const TextTokenizer& tokenizer) {
  const std::string path = files.path(model_file::kTokenizerJson);
  if (!files.has(model_file::kTokenizerJson) || read_tokenizer_file(path) == tokenizer.tokenizer_json())
    return;
  fail(ErrorKind::kFormat,
       "{} is not the file that Heed writes for its tokenizer of kind \"{}\" (tokenizer_config.json, "
       "\"heed_tokenizer\"), so that other libraries would read another tokenizer: delete it, or fetch the "
       "directory again",
       path, name_of(tokenizer.kind()));
}

}  // namespace

std::unique_ptr<TextTokenizer> TextTokenizer::load(const ModelInventory& files) {
  const TextTokenizerConfig config = read_text_tokenizer_config(files);
  const auto found = find_text_tokenizer(files, config);
  if (!found) {
    fail(ErrorKind::kNotFound,
         "'{}' contains no supported text tokenizer: neither tokenizer.json, nor vocab.json with merges.txt "
         "(byte-level BPE), nor tokenizer.model (SentencePiece), nor a tokenizer_config.json of Heed",
         files.directory());
  }
  if (found->json) return JsonTextTokenizer::load(files.path(model_file::kTokenizerJson), config);
  auto tokenizer = load_kind(found->kind, files.directory(), config);
  if (config.own) check_own_json(files, *tokenizer);
  return tokenizer;
}

std::unique_ptr<TextTokenizer> TextTokenizer::train(const TextTokenizerOptions& options,
                                                    const NextText& text) {
  switch (options.kind) {
    case TextTokenizerKind::kBytes:
      return std::make_unique<ByteTokenizer>();
    case TextTokenizerKind::kCharacters:
      return CharacterTokenizer::train(text);
    case TextTokenizerKind::kByteBpe:
      return ByteBpeTokenizer::train(options.vocabulary_size, text);
    case TextTokenizerKind::kSentencePiece:
      return SentencePieceTextTokenizer::train(options, text);
    case TextTokenizerKind::kIds:
      break;
  }
  HEED_CHECK(false);
}

// ---- Text to ids ------------------------------------------------------------------------------------------

const AddedVocabulary& TextTokenizer::added_tokens() const {
  static const AddedVocabulary none;
  return none;
}

std::vector<TextTokenizer::Token> LiteralTextTokenizer::tokens(std::string_view text,
                                                               const Options& options) const {
  std::vector<Token> tokens;
  for (const auto& part : added_tokens().cut(text, {.special_tokens = options.special_tokens})) {
    if (part.id >= 0) {
      tokens.push_back({part.id, part.begin, part.end});
    } else {
      tokenize(text, part.begin, part.end, tokens);
    }
  }
  return tokens;
}

std::vector<int32_t> TextTokenizer::ids(std::string_view text, const Options& options) const {
  std::vector<int32_t> ids;
  for (const Token& token : tokens(text, options)) ids.push_back(token.id);
  return ids;
}

Encoding TextTokenizer::encode(std::string_view text, const Options& options) const {
  Encoding encoding;
  for (const Token& token : tokens(text, options)) {
    encoding.ids.push_back(token.id);
    encoding.pieces.push_back(piece(token.id));
    encoding.spans.emplace_back(token.begin, token.end);
  }
  return encoding;
}

std::vector<int32_t> TextTokenizer::prompt_ids(std::string_view text, const Options& options) const {
  std::vector<int32_t> prompt = ids(text, options);
  if (!prompt.empty() && !starts_every_text()) return prompt;
  const auto start = start_id();
  if (start) {
    prompt.insert(prompt.begin(), *start);
  } else if (prompt.empty()) {
    fail(ErrorKind::kUsage,
         "this model's tokenizer ({}) has no start token, so an empty prompt is not possible: give a prompt",
         name_of(kind()));
  }
  return prompt;
}

// ---- Ids to text ------------------------------------------------------------------------------------------

void TextTokenizer::require_id(int32_t id) const {
  if (id < 0 || id >= size()) {
    fail(ErrorKind::kUsage, "invalid token id {}: the vocabulary has the ids 0 to {}", id, size() - 1);
  }
}

std::string TextTokenizer::decode(std::span<const int32_t> ids, bool continues) const {
  std::string text;
  for (const int32_t id : ids) text += bytes(id);
  if (adds_space() && !continues && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

std::string TextTokenizer::piece(int32_t id) const {
  return shown_piece(bytes(id));
}

std::string TextStream::push(int32_t id) {
  std::string bytes = tokenizer_.bytes(id);
  if (at_beginning_ && !bytes.empty()) {
    // decode() of the first id alone removes the leading space.
    bytes = tokenizer_.decode({&id, 1});
    at_beginning_ = false;
  }
  waiting_ += bytes;
  const size_t whole = waiting_.size() - incomplete_utf8(waiting_);
  std::string text = replace_invalid_utf8(std::string_view(waiting_).substr(0, whole));
  waiting_.erase(0, whole);
  return text;
}

std::string TextStream::finish() {
  return replace_invalid_utf8(std::exchange(waiting_, {}));
}

}  // namespace heed
