#include "text/subwords/byte_bpe.h"

#include <utility>

#include "base/check.h"
#include "text/pipeline/byte_characters.h"
#include "text/unicode/word_pattern.h"

namespace heed {
namespace {

std::string written(std::string_view bytes) {
  std::string characters;
  for (const char byte : bytes) characters += characters_of_bytes()[static_cast<unsigned char>(byte)];
  return characters;
}

}  // namespace

ByteBpeTokenizer::ByteBpeTokenizer(ByteBpeModel model)
    : model_(std::move(model)), added_(model_.added), has_byte_(256) {
  for (int32_t id = 0; id < ByteBpeTokenizer::size(); ++id) {
    const std::string& piece = model_.pieces[id];
    written_.push_back(added_.find(id) != nullptr ? "" : written(piece));
    if (piece.size() == 1 && added_.find(id) == nullptr)
      has_byte_[static_cast<unsigned char>(piece[0])] = true;
  }
  std::vector<std::pair<std::string, std::string>> merges;
  for (const BpeMerge& merge : model_.merges)
    merges.emplace_back(written_[merge.left], written_[merge.right]);
  bpe_ = bpe_model("the merges", written_, merges, {});
}

std::unique_ptr<TextTokenizer> ByteBpeTokenizer::load(const std::string& directory,
                                                      const TextTokenizerConfig& config) {
  return std::make_unique<ByteBpeTokenizer>(read_byte_bpe(directory, config));
}

void ByteBpeTokenizer::save(const std::string& directory) const {
  write_byte_bpe(directory, model_);
}

std::optional<int32_t> ByteBpeTokenizer::start_id() const {
  return model_.start < 0 ? std::nullopt : std::optional(model_.start);
}

std::optional<int32_t> ByteBpeTokenizer::end_id() const {
  return model_.end < 0 ? std::nullopt : std::optional(model_.end);
}

std::string ByteBpeTokenizer::bytes(int32_t id) const {
  require_id(id);
  return is_special(id) ? "" : model_.pieces[id];
}

std::string ByteBpeTokenizer::piece(int32_t id) const {
  require_id(id);
  return added_.find(id) != nullptr ? model_.pieces[id] : TextTokenizer::piece(id);
}

void ByteBpeTokenizer::tokenize(std::string_view text, size_t begin, size_t end,
                                std::vector<Token>& tokens) const {
  text = text.substr(0, end);
  const TokenCaches::Loan cache(caches_);
  std::string characters;
  std::vector<ModelToken> fresh;
  while (begin < end) {
    // The split of white space depends on the next character, and there is none before a special token.
    const size_t behind = word_end(text, begin);
    const std::string_view word = text.substr(begin, behind - begin);
    std::span<const ModelToken> found = (*cache).find(word);
    if (found.empty()) {
      characters.clear();
      for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        if (!has_byte_[byte]) {
          fail(ErrorKind::kText, "the vocabulary of this model has no piece for the byte 0x{:02X}", byte);
        }
        characters += characters_of_bytes()[byte];
      }
      fresh.clear();
      bpe_->tokenize(characters, fresh);
      (*cache).insert(word, fresh);
      found = fresh;
    }
    for (const ModelToken& token : found) {
      tokens.push_back({token.id, begin, begin + model_.pieces[token.id].size()});
      begin = tokens.back().end;
    }
  }
}

}  // namespace heed
