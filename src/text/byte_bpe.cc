#include "text/byte_bpe.h"

#include <utility>

#include "base/check.h"
#include "text/word_pattern.h"

namespace heed {
ByteBpeTokenizer::ByteBpeTokenizer(ByteBpeModel model)
    : model_(std::move(model)), added_(model_.added), merges_(model_.merges), id_of_byte_(256, -1) {
  for (int32_t id = 0; id < ByteBpeTokenizer::size(); ++id) {
    const std::string& piece = model_.pieces[id];
    if (piece.size() != 1 || added_.find(id) != nullptr) continue;
    id_of_byte_[static_cast<unsigned char>(piece[0])] = id;
  }
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
  std::unordered_map<std::string_view, std::vector<int32_t>> known;  // words come again and again
  while (begin < end) {
    // White space looks at what follows it, and before a special token nothing does.
    const size_t behind = word_end(text, begin);
    const std::string_view word = text.substr(begin, behind - begin);
    const auto [found, is_new] = known.try_emplace(word);
    if (is_new) found->second = merge(word);
    for (const int32_t id : found->second) {
      tokens.push_back({id, begin, begin + model_.pieces[id].size()});
      begin = tokens.back().end;
    }
  }
}

std::vector<int32_t> ByteBpeTokenizer::merge(std::string_view word) const {
  std::vector<BpeSymbol> symbols;
  symbols.reserve(word.size());
  for (size_t n = 0; n < word.size(); ++n) {
    const auto byte = static_cast<unsigned char>(word[n]);
    if (id_of_byte_[byte] < 0) {
      fail(ErrorKind::kText, "the vocabulary of this model has no piece for the byte 0x{:02X}", byte);
    }
    symbols.push_back({id_of_byte_[byte], n, n + 1});
  }
  merges_.apply(symbols);
  std::vector<int32_t> ids;
  ids.reserve(symbols.size());
  for (const BpeSymbol& symbol : symbols) ids.push_back(symbol.id);
  return ids;
}

}  // namespace heed
