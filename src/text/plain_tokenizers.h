// The tokenizers that need no training to speak of: bytes and characters.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/text_tokenizer.h"

namespace heed {

/// Byte b is the id b.
class ByteTokenizer : public TextTokenizer {
 public:
  void save(const std::string& directory) const override;
  std::string tokenizer_json() const override;
  TextTokenizerKind kind() const override { return TextTokenizerKind::kBytes; }
  int32_t size() const override { return 256; }
  std::string bytes(int32_t id) const override;

 protected:
  void cut(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;
};

/// The characters of a text (Unicode's code points), in their order.
class CharacterTokenizer : public TextTokenizer {
 public:
  /// Throws kFormat for a character that stands twice.
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
  void cut(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;

 private:
  std::u32string characters_;
  std::unordered_map<char32_t, int32_t> ids_;
};

/// For models whose tokenizer is missing: the text "1 403 407" is these ids.
class IdTokenizer : public TextTokenizer {
 public:
  /// `start` -1: none.
  IdTokenizer(int32_t size, int32_t start) : size_(size), start_(start) {}

  /// There is nothing to write.
  void save(const std::string&) const override {}
  TextTokenizerKind kind() const override { return TextTokenizerKind::kIds; }
  int32_t size() const override { return size_; }
  std::optional<int32_t> start_id() const override {
    return start_ < 0 ? std::nullopt : std::optional(start_);
  }
  /// The number behind a space.
  std::string bytes(int32_t id) const override;

 protected:
  void cut(std::string_view text, size_t begin, size_t end, std::vector<Token>& tokens) const override;

 private:
  int32_t size_, start_;
};

}  // namespace heed
