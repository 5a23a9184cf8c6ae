// Learns merges of adjacent pieces, as BPE and WordPiece do: the most frequent pair becomes a piece, again
// and again (Sennrich, Haddow and Birch, "Neural machine translation of rare words with subword units",
// 2016).
//
// Words are counted once; with an index and a heap, each merge looks only at the words that hold its pair,
// and corrects the counts of the pairs beside it.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heed {

/// Pieces by id.
class PieceTable {
 public:
  size_t size() const { return pieces_.size(); }
  const std::vector<std::string>& all() const { return pieces_; }
  const std::string& operator[](int32_t id) const { return pieces_[static_cast<size_t>(id)]; }
  /// The id of a piece, which is added if it is new.
  int32_t add(const std::string& piece) {
    const auto [found, is_new] = ids_.try_emplace(piece, static_cast<int32_t>(pieces_.size()));
    if (is_new) pieces_.push_back(piece);
    return found->second;
  }

 private:
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, int32_t> ids_;
};

class MergeLearner {
 public:
  /// The ids of two adjacent pieces.
  using Pair = std::pair<int32_t, int32_t>;
  struct Word {
    std::vector<int32_t> pieces = {};  ///< ids, before any merge
    int64_t count = 0;                 ///< how often the text has the word
  };

  explicit MergeLearner(std::vector<Word> words);

  /// Merges the most frequent pair, ties broken by lower ids, into the piece that `piece_of(pair)` gives.
  /// Returns false if no pair occurs at least `minimum` times.
  bool merge(int64_t minimum, const std::function<int32_t(const Pair&)>& piece_of);

 private:
  struct PairHash {
    size_t operator()(const Pair& pair) const;
  };
  struct Seen {
    int64_t count = 0;
    std::vector<size_t> words;  // words that contained it at some time, with duplicates
  };

  void offer(const Pair& pair, int64_t count) { best_.emplace(count, -pair.first, -pair.second); }
  void count_pairs(size_t number, int64_t sign);
  void replace(const Pair& pair, int32_t merged);

  std::vector<Word> words_;
  std::unordered_map<Pair, Seen, PairHash> pairs_;
  std::priority_queue<std::tuple<int64_t, int32_t, int32_t>> best_;  // count, then the lower ids
  std::vector<Pair> changed_;
};

}  // namespace heed
