// WordPiece training by merging the most frequent pairs of adjacent pieces. Every distinct word is a list of
// pieces, initially its characters.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "text/tokenizers/encoder_tokenizer.h"
#include "text/training/merge_learner.h"
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

/// A character of a word as a piece; those within words begin with "##".
std::string character_piece(const std::u32string& word, size_t position) {
  std::string piece = position == 0 ? "" : "##";
  append_utf8(piece, word[position]);
  return piece;
}

/// The words of the alphabet as ids of their characters, which are added in sorted order: ties are broken
/// independent of the order of the words.
std::vector<MergeLearner::Word> words_in_characters(Counts words,
                                                    const std::unordered_set<char32_t>& alphabet,
                                                    PieceTable& pieces) {
  std::erase_if(words, [&](const auto& each) {
    return !std::ranges::all_of(each.first, [&](char32_t c) { return alphabet.contains(c); });
  });
  std::set<std::string> sorted;
  for (const auto& [word, count] : words) {
    for (size_t n = 0; n < word.size(); ++n) sorted.insert(character_piece(word, n));
  }
  for (const std::string& piece : sorted) pieces.add(piece);
  std::vector<MergeLearner::Word> all;
  for (const auto& [word, count] : words) {
    MergeLearner::Word& made = all.emplace_back(MergeLearner::Word{.count = count});
    for (size_t n = 0; n < word.size(); ++n) made.pieces.push_back(pieces.add(character_piece(word, n)));
  }
  return all;
}

}  // namespace

ModelTokenizer train_wordpiece(const WordPieceTrainOptions& options, const NextLine& lines) {
  const WordPieceSettings& settings = options.settings;
  std::vector<std::string> pieces{settings.pad, settings.unknown, settings.start, settings.end,
                                  settings.mask};
  Counts words = count_words(lines, settings.words);
  PieceTable learnt;
  const std::unordered_set<char32_t> alphabet = choose_alphabet(words, options.alphabet);
  MergeLearner learner(words_in_characters(std::move(words), alphabet, learnt));
  if (pieces.size() + learnt.size() > options.vocabulary_size) {
    fail(ErrorKind::kUsage,
         "a vocabulary of {} pieces is too small: the text has {} characters within and at the beginning of "
         "words, and there are {} special tokens",
         options.vocabulary_size, learnt.size(), pieces.size());
  }
  const size_t room = options.vocabulary_size - pieces.size();
  const int64_t minimum = std::max<int64_t>(options.minimum_count, 1);
  const auto piece_of = [&](const MergeLearner::Pair& pair) {
    return learnt.add(learnt[pair.first] + learnt[pair.second].substr(2));
  };
  while (learnt.size() < room && learner.merge(minimum, piece_of)) continue;
  pieces.insert(pieces.end(), learnt.all().begin(), learnt.all().end());
  return wordpiece_tokenizer(std::move(pieces), settings);
}

}  // namespace heed
