// Trivial tokenizers: bytes, characters, and numeric ids.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/tokenizers/text_tokenizer.h"

namespace heed {

/// Byte b has the id b.
class ByteTokenizer : public LiteralTextTokenizer {
 public:
  void save(const std::string& directory) const override;
  std::string tokenizer_json() const override;
  TextTokenizerKind kind() const override { return TextTokenizerKind::kBytes; }
  int32_t size() const override { return 256; }
  std::string bytes(int32_t id) const override;

 protected:
  void tokenize(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;
};

/// One id per character (Unicode code point) of the training text, in code point order.
class CharacterTokenizer : public LiteralTextTokenizer {
 public:
  /// Throws kFormat for a duplicate character.
  explicit CharacterTokenizer(std::u32string characters);
  /// Reads vocab.json, {"a": 0, ...}.
  static std::unique_ptr<TextTokenizer> load(const std::string& directory);
  static std::unique_ptr<TextTokenizer> train(const NextText& text);

  void save(const std::string& directory) const override;
  std::string tokenizer_json() const override;
  TextTokenizerKind kind() const override { return TextTokenizerKind::kCharacters; }
  int32_t size() const override { return static_cast<int32_t>(characters_.size()); }
  std::string bytes(int32_t id) const override;

 protected:
  void tokenize(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;

 private:
  std::u32string characters_;
  std::unordered_map<char32_t, int32_t> ids_;
};

/// For models without a tokenizer: the text "1 403 407" stands for these ids.
class IdTokenizer : public LiteralTextTokenizer {
 public:
  /// `start` -1: none.
  IdTokenizer(int32_t size, int32_t start) : size_(size), start_(start) {}

  /// Writes nothing.
  void save(const std::string&) const override {}
  TextTokenizerKind kind() const override { return TextTokenizerKind::kIds; }
  int32_t size() const override { return size_; }
  std::optional<int32_t> start_id() const override {
    return start_ < 0 ? std::nullopt : std::optional(start_);
  }
  /// A space and the number.
  std::string bytes(int32_t id) const override;

 protected:
  void tokenize(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;

 private:
  int32_t size_, start_;
};

}  // namespace heed
