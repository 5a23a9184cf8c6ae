#include "text/byte_bpe.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "text/word_pattern.h"

namespace heed {
namespace {

uint64_t key_of(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
}

}  // namespace

ByteBpeTokenizer::ByteBpeTokenizer(ByteBpeModel model) : model_(std::move(model)), id_of_byte_(256, -1) {
  for (int32_t id = 0; id < ByteBpeTokenizer::size(); ++id) {
    const std::string& piece = model_.pieces[id];
    if (piece.size() != 1 || ByteBpeTokenizer::is_special(id)) continue;
    id_of_byte_[static_cast<unsigned char>(piece[0])] = id;
  }
  for (size_t place = 0; place < model_.merges.size(); ++place) {
    const BpeMerge& merge = model_.merges[place];
    ranks_.try_emplace(key_of(merge.left, merge.right), Rank{static_cast<int32_t>(place), merge.joined});
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

bool ByteBpeTokenizer::is_special(int32_t id) const {
  return std::find(model_.special.begin(), model_.special.end(), id) != model_.special.end();
}

std::string ByteBpeTokenizer::bytes(int32_t id) const {
  require_id(id);
  return is_special(id) ? "" : model_.pieces[id];
}

std::string ByteBpeTokenizer::piece(int32_t id) const {
  require_id(id);
  return is_special(id) ? model_.pieces[id] : TextTokenizer::piece(id);
}

std::optional<TextTokenizer::Token> ByteBpeTokenizer::next_special(std::string_view text,
                                                                   size_t begin) const {
  std::optional<Token> next;
  for (const int32_t id : model_.special) {
    const std::string& spelt = model_.pieces[id];
    const size_t at = text.find(spelt, begin);
    if (at == std::string_view::npos) continue;
    // Where one is the beginning of another, the longer one is meant.
    if (!next || std::tuple(at, -spelt.size()) < std::tuple(next->begin, next->begin - next->end)) {
      next = Token{id, at, at + spelt.size()};
    }
  }
  return next;
}

void ByteBpeTokenizer::cut(std::string_view text, size_t begin, size_t end,
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

/// The neighbours with the earliest merge are joined, from left to right, until there is no merge for any.
std::vector<int32_t> ByteBpeTokenizer::merge(std::string_view word) const {
  struct Symbol {
    int32_t id, before, after;  // neighbours, -1 at the ends; id -1 once it is part of another
  };
  std::vector<Symbol> symbols;
  const auto count = static_cast<int32_t>(word.size());
  for (int32_t n = 0; n < count; ++n) {
    const auto byte = static_cast<unsigned char>(word[n]);
    if (id_of_byte_[byte] < 0) {
      fail(ErrorKind::kText, "the vocabulary of this model has no piece for the byte 0x{:02X}", byte);
    }
    symbols.push_back({id_of_byte_[byte], n - 1, n + 1 < count ? n + 1 : -1});
  }
  using Candidate = std::tuple<int32_t, int32_t, uint64_t>;  // rank, place of the left symbol, what it joins
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
  const auto consider = [&](int32_t left) {
    if (left < 0 || symbols[left].after < 0) return;
    const uint64_t pair = key_of(symbols[left].id, symbols[symbols[left].after].id);
    const auto found = ranks_.find(pair);
    if (found != ranks_.end()) candidates.emplace(found->second.place, left, pair);
  };
  for (int32_t n = 0; n < count; ++n) consider(n);
  while (!candidates.empty()) {
    const auto [rank, place, pair] = candidates.top();
    candidates.pop();
    Symbol& left = symbols[place];
    if (left.id < 0 || left.after < 0 || key_of(left.id, symbols[left.after].id) != pair) continue;  // gone
    Symbol& right = symbols[left.after];
    left.id = model_.merges[rank].joined;
    left.after = right.after;
    right.id = -1;
    if (left.after >= 0) symbols[left.after].before = place;
    consider(left.before);
    consider(place);
  }
  std::vector<int32_t> ids;
  for (const Symbol& symbol : symbols) {
    if (symbol.id >= 0) ids.push_back(symbol.id);
  }
  return ids;
}

}  // namespace heed
