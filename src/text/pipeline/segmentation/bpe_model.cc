// Byte pair encoding (Sennrich, Haddow and Birch, 2016): the symbols of a piece, initially its characters,
// are merged by a list of learnt merges, earlier merges first, the leftmost of ties.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/segmentation/bpe_merges.h"
#include "text/pipeline/segmentation/space_mark.h"
#include "text/pipeline/segmentation/string_table.h"
#include "text/pipeline/segmentation/token_model.h"

namespace heed {
namespace {

uint64_t key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

class Bpe : public TokenModel {
 public:
  Bpe(const std::string& name, const std::vector<std::string>& pieces,
      const std::vector<std::pair<std::string, std::string>>& merges, BpeOptions options)
      : options_(std::move(options)), ids_(pieces.size()), merges_(merges.size()) {
    for (size_t id = 0; id < pieces.size(); ++id) {
      if (!pieces[id].empty()) ids_.insert(pieces[id], static_cast<int32_t>(id));
    }
    if (!options_.unknown.empty()) {
      unknown_ = ids_.find(options_.unknown);
      if (unknown_ < 0) {
        fail(ErrorKind::kFormat, "{}: the unknown token '{}' is not in the vocabulary", name,
             options_.unknown);
      }
    }
    for (int byte = 0; options_.byte_fallback && byte < 256; ++byte) {
      const std::string piece = fmt::format("<0x{:02X}>", byte);
      id_of_byte_[static_cast<size_t>(byte)] = ids_.find(piece);
    }
    add_merges(name, merges);
    ascii_.fill(-1);
    for (size_t c = 0; c < ascii_.size(); ++c) {
      const char character = static_cast<char>(c);
      ascii_[c] = ids_.find(std::string_view(&character, 1));
    }
    // Dropped characters move the offsets of all that follow.
    const bool drops =
        unknown_ < 0 && (!options_.byte_fallback || std::ranges::find(id_of_byte_, -1) != id_of_byte_.end());
    parts_ &= !drops && !options_.whole_words && options_.prefix.empty() && options_.suffix.empty() &&
              ids_.find(kSpaceMark) >= 0;
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    if (options_.whole_words) {
      const int32_t id = ids_.find(piece);
      if (id >= 0) {
        tokens.push_back({id, 0, static_cast<uint32_t>(piece.size())});
        return;
      }
    }
    static thread_local std::vector<BpeSymbol> symbols;
    symbols.clear();
    add_symbols(piece, symbols);
    merge_symbols(symbols, [&](const BpeSymbol& left, const BpeSymbol& right) {
      const RankedMerge* found = merges_.find(key_of(left.id, right.id));
      return found != nullptr ? *found : RankedMerge{};
    });
    uint32_t at = 0;
    for (const BpeSymbol& symbol : symbols) {
      if (symbol.parts == 0) continue;
      tokens.push_back({symbol.id, at, at + symbol.length});
      at += symbol.length;
    }
  }

  size_t first_part(std::string_view piece) const override {
    if (!parts_) return piece.size();
    return first_word_end(piece);
  }

 private:
  void add_merges(const std::string& name, const std::vector<std::pair<std::string, std::string>>& merges) {
    std::string joined;
    for (size_t rank = 0; rank < merges.size(); ++rank) {
      const auto& [left, right] = merges[rank];
      joined = left;
      joined += std::string_view(right).substr(std::min(options_.prefix.size(), right.size()));
      const int32_t l = ids_.find(left), r = ids_.find(right), j = ids_.find(joined);
      if (l < 0 || r < 0 || j < 0) {
        fail(ErrorKind::kFormat, "{}: merge {} combines '{}' and '{}', but the vocabulary lacks {}", name,
             rank + 1, left, right,
             l < 0   ? "the first"
             : r < 0 ? "the second"
                     : "the result");
      }
      merges_.insert(key_of(l, r), {static_cast<int32_t>(rank), j});
      // Whether a merge crosses the beginning of a word.
      parts_ &= !has_inner_mark(joined);
    }
  }

  struct Bytes {
    size_t begin = 0, end = 0;
  };

  /// The id of a character with its prefix and suffix, or -1.
  int32_t id_of(std::string_view character, bool first, bool last, std::string& written) const {
    const bool prefixed = !first && !options_.prefix.empty(), suffixed = last && !options_.suffix.empty();
    if (!prefixed && !suffixed) {
      if (character.size() == 1) return ascii_[static_cast<unsigned char>(character[0])];
      return ids_.find(character);
    }
    written = prefixed ? options_.prefix : "";
    written += character;
    if (suffixed) written += options_.suffix;
    return ids_.find(written);
  }

  /// The bytes of an unknown character as symbols; false if one of them has no piece. `text` is the part of
  /// `written` that is in the text: bytes of a prefix or suffix have no length.
  bool add_bytes(std::string_view written, Bytes text, std::vector<BpeSymbol>& symbols) const {
    const auto id = [&](char byte) { return id_of_byte_[static_cast<unsigned char>(byte)]; };
    if (!options_.byte_fallback ||
        std::any_of(written.begin(), written.end(), [&](char c) { return id(c) < 0; })) {
      return false;
    }
    for (size_t n = 0; n < written.size(); ++n) {
      symbols.push_back({id(written[n]), n >= text.begin && n < text.end ? 1U : 0U});
    }
    return true;
  }

  void add_symbols(std::string_view piece, std::vector<BpeSymbol>& symbols) const {
    uint32_t unknown = 0;  // bytes of unknown characters that are not a symbol yet
    const auto flush = [&] {
      if (unknown > 0) symbols.push_back({unknown_, unknown});
      unknown = 0;
    };
    std::string written;
    for (size_t at = 0; at < piece.size();) {
      const auto length = static_cast<uint32_t>(length_of_character(piece[at]));
      const std::string_view character = piece.substr(at, length);
      written = character;
      const int32_t id = id_of(character, at == 0, at + length == piece.size(), written);
      const size_t before = at == 0 ? 0 : options_.prefix.size();
      at += length;
      if (id >= 0) {
        flush();
        symbols.push_back({id, length});
      } else if (!add_bytes(written, {before, before + length}, symbols) && unknown_ >= 0) {
        if (!options_.fuses_unknown) flush();
        unknown += length;
      }
    }
    flush();
  }

  BpeOptions options_;
  StringTable ids_;
  KeyTable<uint64_t, RankedMerge> merges_;
  int32_t unknown_ = -1;
  std::array<int32_t, 256> id_of_byte_{};
  std::array<int32_t, 128> ascii_{};
  bool parts_ = true;  // no merge crosses the beginning of a word
};

}  // namespace

std::unique_ptr<TokenModel> bpe_model(const std::string& name, const std::vector<std::string>& pieces,
                                      const std::vector<std::pair<std::string, std::string>>& merges,
                                      const BpeOptions& options) {
  return std::make_unique<Bpe>(name, pieces, merges, options);
}

}  // namespace heed
