// Models that see the bytes of a text.
#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "text/pipeline/segmentation/token_model.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/unicode/utf8.h"
#include "text/unicode/word_pattern.h"

namespace heed {
namespace {

class Bytes : public TokenModel {
 public:
  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    tokens.reserve(tokens.size() + piece.size());
    for (uint32_t at = 0; at < piece.size(); ++at)
      tokens.push_back({static_cast<unsigned char>(piece[at]), at, at + 1});
  }
  bool is_slow() const override { return false; }
};

class Characters : public TokenModel {
 public:
  explicit Characters(const std::u32string& characters) {
    for (const char32_t c : characters) {
      if (!ids_.emplace(c, static_cast<int32_t>(ids_.size())).second) {
        fail(ErrorKind::kFormat, "the character U+{:04X} is duplicated in the vocabulary",
             static_cast<uint32_t>(c));
      }
    }
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    tokens.reserve(tokens.size() + piece.size());
    for (size_t begin = 0, next = 0; begin < piece.size(); begin = next) {
      const char32_t c = next_code_point(piece, next);
      const auto found = ids_.find(c);
      if (found == ids_.end()) {
        fail(ErrorKind::kText,
             "the character '{1}' (U+{2:04X}) at byte {0} of the text is not one of the {3} characters of "
             "this model",
             begin + 1, replace_invalid_utf8(piece.substr(begin, next - begin)), static_cast<uint32_t>(c),
             ids_.size());
      }
      tokens.push_back({found->second, static_cast<uint32_t>(begin), static_cast<uint32_t>(next)});
    }
  }
  bool is_slow() const override { return false; }

 private:
  std::unordered_map<char32_t, int32_t> ids_;
};

class Ids : public TokenModel {
 public:
  explicit Ids(int32_t size) : size_(size) {}

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    constexpr std::string_view kSpaces = " \n\t\r";
    for (size_t begin = piece.find_first_not_of(kSpaces), end = 0; begin < piece.size();
         begin = piece.find_first_not_of(kSpaces, end)) {
      end = std::min(piece.find_first_of(kSpaces, begin), piece.size());
      int32_t id = -1;
      const auto [behind, error] = std::from_chars(piece.data() + begin, piece.data() + end, id);
      if (error != std::errc() || behind != piece.data() + end || id < 0 || id >= size_) {
        fail(ErrorKind::kText,
             "this model has no tokenizer, so a text must be token ids from 0 to {}, separated by spaces; "
             "byte {} is invalid",
             size_ - 1, begin + 1);
      }
      tokens.push_back({id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
    }
  }
  bool is_slow() const override { return false; }

 private:
  int32_t size_;
};

class ByteBpe : public TokenModel {
 public:
  ByteBpe(const std::string& name, const std::vector<std::string>& pieces,
          const std::vector<std::pair<std::string, std::string>>& merges)
      : bpe_(bpe_model(name, pieces, merges, {})), has_byte_(256) {
    for (const std::string& piece : pieces) {
      const std::string bytes = bytes_of_characters(piece).value_or("");
      bytes_of_.push_back(static_cast<uint32_t>(bytes.size()));
      if (bytes.size() == 1) has_byte_[static_cast<unsigned char>(bytes[0])] = true;
    }
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    static thread_local std::string characters;
    characters.clear();
    for (const char c : piece) {
      const auto byte = static_cast<unsigned char>(c);
      if (!has_byte_[byte]) {
        fail(ErrorKind::kText, "the vocabulary of this model has no piece for the byte 0x{:02X}", byte);
      }
      characters += characters_of_bytes()[byte];
    }
    const size_t first = tokens.size();
    bpe_->tokenize(characters, tokens);
    uint32_t at = 0;
    for (size_t n = first; n < tokens.size(); ++n) {
      tokens[n].begin = at;
      tokens[n].end = at += bytes_of_[static_cast<size_t>(tokens[n].id)];
    }
  }
  size_t first_part(std::string_view piece) const override { return word_end(piece, 0); }

 private:
  std::unique_ptr<TokenModel> bpe_;
  std::vector<uint32_t> bytes_of_;  // of each id
  std::vector<bool> has_byte_;      // whether a byte is in the vocabulary
};

}  // namespace

std::unique_ptr<TokenModel> byte_model() {
  return std::make_unique<Bytes>();
}

std::unique_ptr<TokenModel> character_model(const std::u32string& characters) {
  return std::make_unique<Characters>(characters);
}

std::unique_ptr<TokenModel> id_model(int32_t size) {
  return std::make_unique<Ids>(size);
}

std::unique_ptr<TokenModel> byte_bpe_model(const std::string& name, const std::vector<std::string>& pieces,
                                           const std::vector<std::pair<std::string, std::string>>& merges) {
  return std::make_unique<ByteBpe>(name, pieces, merges);
}

}  // namespace heed
