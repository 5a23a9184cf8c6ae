#include "text/tokenizers/plain_tokenizers.h"

#include <charconv>
#include <set>

#include "base/check.h"
#include "text/readers/tokenizer_file.h"
#include "text/readers/vocabulary_json.h"
#include "text/tokenizers/text_tokenizer_config.h"
#include "text/tokenizers/tokenizer_json_writer.h"
#include "text/tokenizers/vocabulary.h"
#include "text/unicode/utf8.h"

namespace heed {

void ByteTokenizer::save(const std::string& directory) const {
  write_text_tokenizer_config(directory, {.tokenizer_class = kPlainTokenizerClass, .own = kind()});
  write_file(directory + "/" + model_file::kTokenizerJson, tokenizer_json());
}

std::string ByteTokenizer::tokenizer_json() const {
  return byte_tokenizer_json();
}

std::string ByteTokenizer::bytes(int32_t id) const {
  require_id(id);
  return std::string(1, static_cast<char>(id));
}

void ByteTokenizer::tokenize(std::string_view text, size_t begin, size_t end,
                             std::vector<Token>& tokens) const {
  for (size_t at = begin; at < end; ++at)
    tokens.push_back({static_cast<unsigned char>(text[at]), at, at + 1});
}

CharacterTokenizer::CharacterTokenizer(std::u32string characters) : characters_(std::move(characters)) {
  for (const char32_t c : characters_) {
    if (!ids_.emplace(c, static_cast<int32_t>(ids_.size())).second) {
      fail(ErrorKind::kFormat, "the character U+{:04X} is duplicated in the vocabulary",
           static_cast<uint32_t>(c));
    }
  }
}

std::unique_ptr<TextTokenizer> CharacterTokenizer::load(const std::string& directory) {
  const std::string path = directory + "/" + model_file::kVocabularyJson;
  std::u32string characters;
  for (const std::string& piece : read_vocabulary(read_tokenizer_file(path), path)) {
    const std::u32string decoded = utf8_to_utf32(piece);
    if (decoded.size() != 1) {
      fail(ErrorKind::kFormat, "{}: '{}' is not a single character, which a character tokenizer requires",
           path, piece);
    }
    characters += decoded;
  }
  return std::make_unique<CharacterTokenizer>(std::move(characters));
}

std::unique_ptr<TextTokenizer> CharacterTokenizer::train(const NextText& text) {
  std::set<char32_t> characters;
  std::string rest;  // a chunk may end within a character
  const auto add = [&](std::string_view whole) {
    if (find_invalid_utf8(whole)) {
      fail(ErrorKind::kText, "the text is not valid UTF-8: convert it, or use the tokenizer bytes");
    }
    for (size_t at = 0; at < whole.size();) characters.insert(next_code_point(whole, at));
  };
  for (std::string stretch; text(stretch);) {
    rest += stretch;
    const size_t whole = rest.size() - incomplete_utf8(rest);
    add(std::string_view(rest).substr(0, whole));
    rest.erase(0, whole);
  }
  add(rest);
  if (characters.empty()) fail(ErrorKind::kText, "there is no text to train the tokenizer on");
  return std::make_unique<CharacterTokenizer>(std::u32string(characters.begin(), characters.end()));
}

void CharacterTokenizer::save(const std::string& directory) const {
  std::vector<std::string> pieces;
  for (int32_t id = 0; id < size(); ++id) pieces.push_back(bytes(id));
  write_file(directory + "/" + model_file::kVocabularyJson, vocabulary_json(pieces));
  write_text_tokenizer_config(directory, {.tokenizer_class = kPlainTokenizerClass, .own = kind()});
  write_file(directory + "/" + model_file::kTokenizerJson, tokenizer_json());
}

std::string CharacterTokenizer::tokenizer_json() const {
  return character_tokenizer_json(characters_);
}

std::string CharacterTokenizer::bytes(int32_t id) const {
  require_id(id);
  std::string text;
  append_utf8(text, characters_[id]);
  return text;
}

void CharacterTokenizer::tokenize(std::string_view text, size_t begin, size_t end,
                                  std::vector<Token>& tokens) const {
  while (begin < end) {
    size_t next = begin;
    const char32_t c = next_code_point(text, next);
    const auto found = ids_.find(c);
    if (found == ids_.end()) {
      fail(ErrorKind::kText,
           "the character '{1}' (U+{2:04X}) at byte {0} of the text is not one of the {3} characters of this "
           "model",
           begin + 1, replace_invalid_utf8(text.substr(begin, next - begin)), static_cast<uint32_t>(c),
           size());
    }
    tokens.push_back({found->second, begin, next});
    begin = next;
  }
}

std::string IdTokenizer::bytes(int32_t id) const {
  require_id(id);
  return fmt::format(" {}", id);
}

void IdTokenizer::tokenize(std::string_view text, size_t begin, size_t end,
                           std::vector<Token>& tokens) const {
  while (begin < end) {
    if (text[begin] == ' ' || text[begin] == '\n' || text[begin] == '\t' || text[begin] == '\r') {
      ++begin;
      continue;
    }
    Token token{-1, begin, begin};
    const auto [behind, error] = std::from_chars(text.data() + begin, text.data() + end, token.id);
    token.end = static_cast<size_t>(behind - text.data());
    const bool ends = token.end == end || text.substr(token.end, 1).find_first_of(" \n\t\r") == 0;
    if (error != std::errc() || !ends || token.id < 0 || token.id >= size_) {
      fail(ErrorKind::kText,
           "this model has no tokenizer, so a text must be token ids from 0 to {}, separated by spaces; byte "
           "{} is invalid",
           size_ - 1, begin + 1);
    }
    tokens.push_back(token);
    begin = token.end;
  }
}

}  // namespace heed
