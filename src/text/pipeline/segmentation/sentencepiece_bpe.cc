// SentencePiece's models by merges, characters and words.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/segmentation/bpe_merges.h"
#include "text/pipeline/segmentation/byte_trie.h"
#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"
#include "text/pipeline/segmentation/space_mark.h"

namespace heed {
namespace {

/// Looks up a part of a text that is one piece.
void add_known_piece(const SentencePieceVocabulary& vocabulary, std::string_view text, uint32_t begin,
                     uint32_t end, std::vector<ModelToken>& tokens) {
  const int32_t id = vocabulary.id(text.substr(begin, end - begin));
  if (vocabulary[id].type == SentencePieceType::kControl) {
    fail(ErrorKind::kFormat,
         "the SentencePiece model {} cannot encode text: its control piece '{}' is a part of the text",
         vocabulary.name(), vocabulary[id].text);
  }
  tokens.push_back({id, begin, end, id == vocabulary.unknown()});
}

class SentencePieceBpe : public TokenModel {
 public:
  SentencePieceBpe(std::shared_ptr<const SentencePieceVocabulary> vocabulary, bool merges)
      : vocabulary_(std::move(vocabulary)), merges_(merges) {
    const std::vector<std::string> symbols = vocabulary_->symbols();
    std::vector<ByteTrie::Entry> entries;
    for (const std::string& symbol : symbols) entries.push_back({symbol, 0});
    symbols_ = ByteTrie(std::move(entries));
    rank_pieces();
    const int32_t mark = vocabulary_->id_in_text(kSpaceMark);
    words_apart_ = mark >= 0 && !has_unused_;
    for (int32_t id = 0; id < vocabulary_->size() && words_apart_; ++id) {
      words_apart_ = !has_inner_mark((*vocabulary_)[id].text);
    }
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    const size_t first = tokens.size();
    static thread_local std::vector<BpeSymbol> symbols;
    symbols.clear();
    add_symbols(piece, symbols);
    Splits splits;
    const auto find_merge = [&](const BpeSymbol& left, const BpeSymbol& right) -> RankedMerge {
      if (left.id == kFrozen || right.id == kFrozen) return {};
      const int32_t joined = vocabulary_->id_in_text(piece.substr(left.begin, left.length + right.length));
      if (joined < 0) return {};
      if (has_unused_ && is_unused(joined)) splits[joined] = left.length;
      return {ranks_[static_cast<size_t>(joined)], joined};
    };
    if (merges_) merge_symbols(symbols, find_merge);
    for (const BpeSymbol& symbol : symbols) {
      if (symbol.parts > 0) add_token(piece, symbol.begin, symbol.begin + symbol.length, splits, tokens);
    }
    vocabulary_->resolve_unknown(piece, first, tokens);
  }

  size_t first_part(std::string_view piece) const override {
    return words_apart_ ? first_word_end(piece) : piece.size();
  }
  bool is_slow() const override { return words_apart_; }  // longer parts are hardly repeated

 private:
  static constexpr int32_t kFrozen = -2;                 // a user-defined symbol, which is not merged
  using Splits = std::unordered_map<int32_t, uint32_t>;  // where unused pieces are split

  bool is_unused(int32_t id) const { return (*vocabulary_)[id].type == SentencePieceType::kUnused; }

  /// Pieces with the same score have the same rank.
  void rank_pieces() {
    std::vector<int32_t> order;
    for (int32_t id = 0; id < vocabulary_->size(); ++id) {
      order.push_back(id);
      has_unused_ |= is_unused(id);
    }
    const auto score = [&](int32_t id) { return (*vocabulary_)[id].score; };
    std::ranges::sort(order, std::greater<>(), score);
    ranks_.resize(order.size());
    int32_t rank = 0;
    for (size_t n = 0; n < order.size(); ++n) {
      if (n > 0 && score(order[n]) != score(order[n - 1])) ++rank;
      ranks_[static_cast<size_t>(order[n])] = rank;
    }
  }

  void add_symbols(std::string_view piece, std::vector<BpeSymbol>& symbols) const {
    for (uint32_t at = 0; at < piece.size();) {
      const auto symbol = static_cast<uint32_t>(symbols_.longest(piece.substr(at)).length);
      const auto length = symbol > 0 ? symbol : static_cast<uint32_t>(length_of_character(piece[at]));
      symbols.push_back({symbol > 0 ? kFrozen : 0, length, at});
      at += length;
    }
  }

  /// Unused pieces are split where the last merge joined them.
  void add_token(std::string_view text, uint32_t begin, uint32_t end, const Splits& splits,
                 std::vector<ModelToken>& tokens) const {
    if (splits.empty()) return add_known_piece(*vocabulary_, text, begin, end, tokens);
    std::vector<std::pair<uint32_t, uint32_t>> parts{{begin, end}};
    while (!parts.empty()) {
      const auto [first, last] = parts.back();
      parts.pop_back();
      const auto split = splits.find(vocabulary_->id(text.substr(first, last - first)));
      if (split == splits.end()) {
        add_known_piece(*vocabulary_, text, first, last, tokens);
      } else {
        parts.emplace_back(first + split->second, last);
        parts.emplace_back(first, first + split->second);
      }
    }
  }

  std::shared_ptr<const SentencePieceVocabulary> vocabulary_;
  ByteTrie symbols_;
  std::vector<int32_t> ranks_;  // by id
  bool merges_;
  bool has_unused_ = false;
  bool words_apart_ = false;  // no piece crosses the beginning of a word
};

class SentencePieceWords : public TokenModel {
 public:
  explicit SentencePieceWords(std::shared_ptr<const SentencePieceVocabulary> vocabulary)
      : vocabulary_(std::move(vocabulary)) {}

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    const size_t first = tokens.size();
    for (size_t begin = 0; begin < piece.size();) {
      const size_t end = std::min(piece.find(kSpaceMark, begin + 1), piece.size());
      add_known_piece(*vocabulary_, piece, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), tokens);
      begin = end;
    }
    vocabulary_->resolve_unknown(piece, first, tokens);
  }
  bool is_slow() const override { return false; }

 private:
  std::shared_ptr<const SentencePieceVocabulary> vocabulary_;
};

}  // namespace

std::unique_ptr<TokenModel> sentencepiece_bpe_model(std::shared_ptr<const SentencePieceVocabulary> vocabulary,
                                                    bool merges) {
  return std::make_unique<SentencePieceBpe>(std::move(vocabulary), merges);
}

std::unique_ptr<TokenModel> sentencepiece_word_model(
    std::shared_ptr<const SentencePieceVocabulary> vocabulary) {
  return std::make_unique<SentencePieceWords>(std::move(vocabulary));
}

}  // namespace heed
