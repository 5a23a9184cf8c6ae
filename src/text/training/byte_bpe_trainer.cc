// Trains byte-level BPE.
//
// Words are counted once; then each merge looks only at the words that hold its pair, and corrects the counts
// of the pairs beside it (the algorithm of Sennrich et al., 2016, with an index and a heap).
#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

#include "base/check.h"
#include "base/log.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/tokenizers/byte_bpe.h"
#include "text/unicode/word_pattern.h"

namespace heed {
namespace {

using Pair = std::pair<int32_t, int32_t>;

struct Word {
  std::vector<int32_t> ids;
  int64_t count = 0;
};

class Trainer {
 public:
  explicit Trainer(const std::map<std::string, int64_t>& words) {
    std::vector<int32_t> id_of_byte(256);
    for (const unsigned char byte : bytes_in_character_order()) {
      id_of_byte[byte] = add_piece(std::string(1, static_cast<char>(byte)));
    }
    for (const auto& [word, count] : words) {
      Word& made = words_.emplace_back();
      made.count = count;
      for (const char byte : word) made.ids.push_back(id_of_byte[static_cast<unsigned char>(byte)]);
      count_pairs(words_.size() - 1, 1);
    }
    for (const auto& [pair, seen] : pairs_) offer(pair, seen.count);
  }

  size_t size() const { return pieces_.size(); }
  /// The pieces and merges in the characters of their bytes.
  ByteBpeFiles files() const {
    ByteBpeFiles files;
    for (const std::string& bytes : pieces_) files.pieces.push_back(characters_of(bytes));
    for (const auto& [left, right] : merges_)
      files.merges.emplace_back(files.pieces[left], files.pieces[right]);
    return files;
  }

  /// Whether there was another pair worth a merge.
  bool merge_next() {
    while (!best_.empty()) {
      const auto [count, left, right] = best_.top();
      best_.pop();
      const Pair pair{-left, -right};
      const auto found = pairs_.find(pair);
      if (found == pairs_.end() || found->second.count != count) continue;  // outdated
      if (count < 2) return false;
      join(pair);
      return true;
    }
    return false;
  }

 private:
  struct Seen {
    int64_t count = 0;
    std::vector<size_t> words;  // words that contained it at some time, with duplicates
  };

  int32_t add_piece(const std::string& bytes) {
    const auto [found, is_new] = ids_.try_emplace(bytes, static_cast<int32_t>(pieces_.size()));
    if (is_new) pieces_.push_back(bytes);
    return found->second;
  }

  void offer(const Pair& pair, int64_t count) { best_.emplace(count, -pair.first, -pair.second); }

  void count_pairs(size_t number, int64_t sign) {
    const Word& word = words_[number];
    for (size_t n = 0; n + 1 < word.ids.size(); ++n) {
      const Pair pair{word.ids[n], word.ids[n + 1]};
      Seen& seen = pairs_[pair];
      seen.count += sign * word.count;
      if (sign > 0 && (seen.words.empty() || seen.words.back() != number)) seen.words.push_back(number);
      touched_.push_back(pair);
    }
  }

  void join(const Pair& pair) {
    const int32_t joined = add_piece(pieces_[pair.first] + pieces_[pair.second]);
    merges_.push_back(pair);
    std::vector<size_t> words = std::move(pairs_[pair].words);
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    touched_.clear();
    for (const size_t number : words) {
      count_pairs(number, -1);
      std::vector<int32_t> ids;
      for (const int32_t id : words_[number].ids) {
        // A symbol that this merge created is not a left part of it, as in "aaa".
        if (!ids.empty() && !fresh_ && ids.back() == pair.first && id == pair.second) {
          ids.back() = joined;
          fresh_ = true;
        } else {
          ids.push_back(id);
          fresh_ = false;
        }
      }
      fresh_ = false;
      words_[number].ids = std::move(ids);
      count_pairs(number, 1);
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const Pair& each : touched_) {
      const auto found = pairs_.find(each);
      if (found->second.count > 0) {
        offer(each, found->second.count);
      } else {
        pairs_.erase(found);
      }
    }
  }

  std::vector<std::string> pieces_;  // in bytes
  std::vector<Pair> merges_;
  std::map<std::string, int32_t> ids_;
  std::vector<Word> words_;
  std::map<Pair, Seen> pairs_;
  std::priority_queue<std::tuple<int64_t, int32_t, int32_t>> best_;  // count, then the lower ids
  std::vector<Pair> touched_;
  bool fresh_ = false;
};

/// How often each word occurs.
std::map<std::string, int64_t> count_words(const NextText& text) {
  std::map<std::string, int64_t> words;
  for (std::string stretch; text(stretch);) {
    const std::string_view view = stretch;
    for (size_t begin = 0; begin < view.size();) {
      const size_t end = word_end(view, begin);
      ++words[std::string(view.substr(begin, end - begin))];
      begin = end;
    }
  }
  return words;
}

}  // namespace

ByteBpeFiles train_byte_bpe(int vocabulary_size, const NextText& text) {
  constexpr int kBytes = 256, kMost = 10'000'000;
  if (vocabulary_size <= kBytes || vocabulary_size > kMost) {
    fail(ErrorKind::kUsage, "the size of a byte-level vocabulary must be {} to {}, not {}", kBytes + 1, kMost,
         vocabulary_size);
  }
  const auto words = count_words(text);
  if (words.empty()) fail(ErrorKind::kText, "there is no text to train the tokenizer on");
  Trainer trainer(words);
  const auto room = static_cast<size_t>(vocabulary_size) - 1;
  while (trainer.size() < room && trainer.merge_next()) continue;
  if (trainer.size() < room) {
    log_warning("vocabulary size reduced from {} to {}: the text allows no more pieces", vocabulary_size,
                trainer.size() + 1);
  }
  ByteBpeFiles files = trainer.files();
  files.start = files.end = static_cast<int32_t>(files.pieces.size());
  files.added = {{.id = *files.end, .content = kEndOfText}};
  files.pieces.emplace_back(kEndOfText);
  return files;
}

}  // namespace heed
