// Trains byte-level BPE.
#include <map>

#include "base/check.h"
#include "base/log.h"
#include "text/pipeline/words/byte_characters.h"
#include "text/tokenizers/byte_bpe.h"
#include "text/training/merge_learner.h"
#include "text/unicode/word_pattern.h"

namespace heed {
namespace {

/// The words as ids of their bytes, which are added first.
std::vector<MergeLearner::Word> words_in_bytes(const std::map<std::string, int64_t>& words,
                                               PieceTable& pieces) {
  for (const unsigned char byte : bytes_in_character_order()) {
    pieces.add(std::string(1, static_cast<char>(byte)));
  }
  std::vector<MergeLearner::Word> all;
  for (const auto& [word, count] : words) {
    MergeLearner::Word& made = all.emplace_back(MergeLearner::Word{.count = count});
    for (const char byte : word) made.pieces.push_back(pieces.add(std::string(1, byte)));
  }
  return all;
}

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
  PieceTable pieces;  // in bytes
  MergeLearner learner(words_in_bytes(words, pieces));
  std::vector<MergeLearner::Pair> merges;
  const auto piece_of = [&](const MergeLearner::Pair& pair) {
    merges.push_back(pair);
    return pieces.add(pieces[pair.first] + pieces[pair.second]);
  };
  constexpr int64_t kTwice = 2;
  const auto room = static_cast<size_t>(vocabulary_size) - 1;
  while (pieces.size() < room && learner.merge(kTwice, piece_of)) continue;
  if (pieces.size() < room) {
    log_warning("vocabulary size reduced from {} to {}: the text allows no more pieces", vocabulary_size,
                pieces.size() + 1);
  }
  ByteBpeFiles files;
  for (const std::string& bytes : pieces.all()) files.pieces.push_back(characters_of(bytes));
  for (const auto& [left, right] : merges) files.merges.emplace_back(files.pieces[left], files.pieces[right]);
  files.start = files.end = static_cast<int32_t>(files.pieces.size());
  files.added = {{.id = *files.end, .content = kEndOfText}};
  files.pieces.emplace_back(kEndOfText);
  return files;
}

}  // namespace heed
