// Byte pair encoding (Sennrich, Haddow and Birch, 2016): the symbols of a piece, initially its characters,
// are merged by a list of learnt merges, earlier merges first, the leftmost of ties.
#include <algorithm>
#include <array>
#include <queue>
#include <tuple>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/string_table.h"
#include "text/pipeline/token_model.h"
#include "text/sentencepiece.h"

namespace heed {
namespace {

struct Merge {
  int32_t rank = 0, joined = 0;
};

uint64_t key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

struct Symbol {
  int32_t id = 0;
  uint32_t length = 0;  // bytes; 0: merged into another
  int32_t before = 0, after = 0;
};

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
    static thread_local std::vector<Symbol> symbols;
    symbols.clear();
    add_symbols(piece, symbols);
    constexpr size_t kShort = 24;
    if (symbols.size() <= kShort) {
      merge_short(symbols);
    } else {
      merge_long(symbols);
    }
    uint32_t at = 0;
    for (const Symbol& symbol : symbols) {
      if (symbol.length == 0) continue;
      tokens.push_back({symbol.id, at, at + symbol.length});
      at += symbol.length;
    }
  }

  size_t first_part(std::string_view piece) const override {
    if (!parts_) return piece.size();
    // Before a "▁" that follows another character.
    size_t at = 0;
    while (piece.substr(at).starts_with(kSpaceMark)) at += kSpaceMark.size();
    return std::min(piece.find(kSpaceMark, at), piece.size());
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
      size_t inner = 0;
      while (std::string_view(joined).substr(inner).starts_with(kSpaceMark)) inner += kSpaceMark.size();
      parts_ &= joined.find(kSpaceMark, inner) == std::string::npos;
    }
  }

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

  /// The bytes of an unknown character as symbols; false if one of them has no piece.
  bool add_bytes(std::string_view written, std::vector<Symbol>& symbols) const {
    const auto id = [&](char byte) { return id_of_byte_[static_cast<unsigned char>(byte)]; };
    if (!options_.byte_fallback ||
        std::any_of(written.begin(), written.end(), [&](char c) { return id(c) < 0; })) {
      return false;
    }
    for (const char byte : written) symbols.push_back({id(byte), 1});
    return true;
  }

  void add_symbols(std::string_view piece, std::vector<Symbol>& symbols) const {
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
      at += length;
      if (id >= 0) {
        flush();
        symbols.push_back({id, length});
      } else if (!add_bytes(written, symbols) && unknown_ >= 0) {
        if (!options_.fuses_unknown) flush();
        unknown += length;
      }
    }
    flush();
  }

  /// Finds the best merge again and again: fastest for few symbols.
  void merge_short(std::vector<Symbol>& symbols) const {
    constexpr int32_t kNone = INT32_MAX;
    std::array<Merge, 32> merges{};  // of each symbol with the next
    const auto merge_at = [&](size_t n) {
      const Merge* found = merges_.find(key_of(symbols[n].id, symbols[n + 1].id));
      return found != nullptr ? *found : Merge{kNone, 0};
    };
    size_t count = symbols.size();
    for (size_t n = 0; n + 1 < count; ++n) merges[n] = merge_at(n);
    while (count > 1) {
      size_t best = 0;
      for (size_t n = 1; n + 1 < count; ++n) {
        if (merges[n].rank < merges[best].rank) best = n;
      }
      if (merges[best].rank == kNone) break;
      symbols[best].id = merges[best].joined;
      symbols[best].length += symbols[best + 1].length;
      symbols.erase(symbols.begin() + static_cast<ptrdiff_t>(best) + 1);
      --count;
      for (size_t n = best + 1; n + 1 < count; ++n) merges[n] = merges[n + 1];
      if (best + 1 < count) merges[best] = merge_at(best);
      if (best > 0) merges[best - 1] = merge_at(best - 1);
    }
  }

  /// Keeps the possible merges in a queue: O(n log n).
  void merge_long(std::vector<Symbol>& symbols) const {
    const auto count = static_cast<int32_t>(symbols.size());
    for (int32_t n = 0; n < count; ++n) {
      symbols[n].before = n - 1;
      symbols[n].after = n + 1 < count ? n + 1 : -1;
    }
    using Candidate = std::tuple<int32_t, int32_t, int32_t>;  // rank, position of the left symbol, joined
    std::vector<Candidate> first;
    first.reserve(symbols.size());
    const auto merge_at = [&](int32_t left) -> const Merge* {
      if (left < 0 || symbols[left].after < 0) return nullptr;
      return merges_.find(key_of(symbols[left].id, symbols[symbols[left].after].id));
    };
    for (int32_t n = 0; n < count; ++n) {
      if (const Merge* merge = merge_at(n)) first.emplace_back(merge->rank, n, merge->joined);
    }
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue({}, std::move(first));
    const auto consider = [&](int32_t left) {
      if (const Merge* merge = merge_at(left)) queue.emplace(merge->rank, left, merge->joined);
    };
    while (!queue.empty()) {
      const auto [rank, place, joined] = queue.top();
      queue.pop();
      if (symbols[place].length == 0) continue;
      const Merge* merge = merge_at(place);  // the symbols may have been merged with others since
      if (merge == nullptr || merge->joined != joined) continue;
      const int32_t right = symbols[place].after;
      symbols[place].id = joined;
      symbols[place].length += symbols[right].length;
      symbols[right].length = 0;
      symbols[place].after = symbols[right].after;
      if (symbols[place].after >= 0) symbols[symbols[place].after].before = place;
      consider(symbols[place].before);
      consider(place);
    }
  }

  BpeOptions options_;
  StringTable ids_;
  KeyTable<uint64_t, Merge> merges_;
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
