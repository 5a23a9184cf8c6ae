// WordPiece training by merging the most frequent pairs of adjacent pieces.
//
// Every distinct word is a list of pieces, initially its characters. An index of the words that contain a
// pair makes the cost of a merge proportional to what it changes.

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using Counts = std::map<std::u32string, int64_t>;

Counts count_words(const NextLine& lines, const BertWordOptions& options) {
  Counts counts;
  std::string line;
  while (lines(line)) {
    for (const std::string& word : bert_words(line, options)) {
      std::u32string characters = utf8_to_utf32(word);
      if (characters.size() <= kMaxWordPieceLength) ++counts[std::move(characters)];
    }
  }
  if (counts.empty()) fail(ErrorKind::kText, "there is no text to train the tokenizer on");
  return counts;
}

/// The most frequent characters; ties are broken by the lower code point.
std::unordered_set<char32_t> choose_alphabet(const Counts& words, size_t size) {
  std::map<char32_t, int64_t> counts;
  for (const auto& [word, count] : words) {
    for (const char32_t c : word) counts[c] += count;
  }
  std::vector<std::pair<int64_t, char32_t>> order;
  for (const auto& [c, count] : counts) order.emplace_back(-count, c);
  std::sort(order.begin(), order.end());
  if (order.size() > size) order.resize(size);
  std::unordered_set<char32_t> alphabet;
  for (const auto& [count, c] : order) alphabet.insert(c);
  return alphabet;
}

class Merger {
 public:
  Merger(const Counts& words, const std::unordered_set<char32_t>& alphabet) {
    for (const auto& [word, count] : words) {
      if (std::all_of(word.begin(), word.end(), [&](char32_t c) { return alphabet.contains(c); })) {
        add_word(word, count);
      }
    }
    // Ids in sorted order, so that ties are broken independent of the order of the words.
    std::vector<std::string> sorted = pieces_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> new_id(sorted.size());
    for (size_t n = 0; n < sorted.size(); ++n) new_id[ids_.at(sorted[n])] = static_cast<int>(n);
    for (Word& word : words_) {
      for (int& piece : word.pieces) piece = new_id[piece];
    }
    for (auto& [piece, id] : ids_) id = new_id[id];
    pieces_ = std::move(sorted);
    for (size_t n = 0; n < words_.size(); ++n) count_pairs(static_cast<int>(n), +1);
    for (const auto& [pair, state] : pairs_) queue_.push({state.count, pair});
  }

  const std::vector<std::string>& pieces() const { return pieces_; }

  /// Merges the most frequent pair. Returns false if none is frequent enough.
  bool merge(int64_t minimum_count) {
    while (!queue_.empty()) {
      const Candidate best = queue_.top();
      queue_.pop();
      const auto found = pairs_.find(best.pair);
      if (found == pairs_.end() || found->second.count != best.count) continue;  // outdated
      if (best.count < minimum_count) return false;
      const int merged = id_of(pieces_[best.pair.first] + pieces_[best.pair.second].substr(2));
      const std::unordered_set<int> containing = std::move(found->second.words);
      for (const int word : containing) {
        count_pairs(word, -1);
        replace(words_[word].pieces, best.pair, merged);
        count_pairs(word, +1);
      }
      for (const Pair& pair : changed_) {
        const auto now = pairs_.find(pair);
        if (now == pairs_.end()) continue;
        if (now->second.count == 0) {
          pairs_.erase(now);
        } else {
          queue_.push({now->second.count, pair});
        }
      }
      changed_.clear();
      return true;
    }
    return false;
  }

 private:
  using Pair = std::pair<int, int>;
  struct PairHash {
    size_t operator()(const Pair& pair) const {
      return std::hash<uint64_t>()((static_cast<uint64_t>(pair.first) << 32) |
                                   static_cast<uint32_t>(pair.second));
    }
  };
  struct Word {
    std::vector<int> pieces;
    int64_t count = 0;
  };
  struct PairState {
    int64_t count = 0;
    std::unordered_set<int> words;  // all words that contain the pair, and possibly some that did before
  };
  struct Candidate {
    int64_t count;
    Pair pair;
    /// The top of the queue is the most frequent pair; ties: the first in order.
    bool operator<(const Candidate& other) const {
      return std::tuple(count, other.pair) < std::tuple(other.count, pair);
    }
  };

  int id_of(const std::string& piece) {
    const auto [found, is_new] = ids_.emplace(piece, static_cast<int>(pieces_.size()));
    if (is_new) pieces_.push_back(piece);
    return found->second;
  }

  void add_word(const std::u32string& word, int64_t count) {
    Word& added = words_.emplace_back();
    added.count = count;
    for (const char32_t c : word) {
      std::string piece = added.pieces.empty() ? "" : "##";
      append_utf8(piece, c);
      added.pieces.push_back(id_of(piece));
    }
  }

  void count_pairs(int index, int sign) {
    const Word& word = words_[index];
    for (size_t n = 0; n + 1 < word.pieces.size(); ++n) {
      const Pair pair{word.pieces[n], word.pieces[n + 1]};
      PairState& state = pairs_[pair];
      state.count += sign * word.count;
      if (sign > 0) state.words.insert(index);
      changed_.insert(pair);
    }
  }

  static void replace(std::vector<int>& pieces, const Pair& pair, int merged) {
    size_t kept = 0;
    for (size_t n = 0; n < pieces.size(); ++n) {
      const bool here = n + 1 < pieces.size() && pieces[n] == pair.first && pieces[n + 1] == pair.second;
      pieces[kept++] = here ? merged : pieces[n];
      if (here) ++n;
    }
    pieces.resize(kept);
  }

  std::vector<std::string> pieces_;
  std::unordered_map<std::string, int> ids_;
  std::vector<Word> words_;
  std::unordered_map<Pair, PairState, PairHash> pairs_;
  std::unordered_set<Pair, PairHash> changed_;
  std::priority_queue<Candidate> queue_;
};

}  // namespace

Tokenizer train_wordpiece(const WordPieceTrainOptions& options, const NextLine& lines) {
  const WordPieceSettings& settings = options.settings;
  std::vector<std::string> pieces{settings.pad, settings.unknown, settings.start, settings.end,
                                  settings.mask};
  const Counts words = count_words(lines, settings.words);
  Merger merger(words, choose_alphabet(words, options.alphabet));
  if (pieces.size() + merger.pieces().size() > options.vocabulary_size) {
    fail(ErrorKind::kUsage,
         "a vocabulary of {} pieces is too small: the text has {} characters within and at the beginning of "
         "words, and there are {} special tokens",
         options.vocabulary_size, merger.pieces().size(), pieces.size());
  }
  const size_t room = options.vocabulary_size - pieces.size();
  while (merger.pieces().size() < room && merger.merge(std::max<int64_t>(options.minimum_count, 1))) continue;
  pieces.insert(pieces.end(), merger.pieces().begin(), merger.pieces().end());
  return wordpiece_tokenizer(std::move(pieces), settings);
}

}  // namespace heed
