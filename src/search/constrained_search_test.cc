#include "search/constrained_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "search/search.h"
#include "search/test_seq2seq.h"

namespace heed::search {
namespace {

bool holds(const std::vector<int32_t>& ids, const std::vector<int32_t>& phrase) {
  return std::search(ids.begin(), ids.end(), phrase.begin(), phrase.end()) != ids.end();
}

/// 20 sentences, each with two phrases of one and three ids.
std::vector<SearchSentence> sentences_with_phrases() {
  std::vector<SearchSentence> sentences = random_sentences(20, 9, 90, 5);
  for (size_t n = 0; n < sentences.size(); ++n) {
    const auto word = static_cast<int32_t>(20 + n);
    sentences[n].required = {{{word}, true, false}, {{word + 1, word + 30, word + 7}, true, false}};
  }
  return sentences;
}

TEST(ConstrainedSearch, EveryTranslationContainsThePhrases) {
  const TinyTransformer model;
  SearchOptions options;
  for (const int beam : {1, 4}) {
    options.beam_size = options.nbest = beam;
    const Search search(model.model, model.context(), options);
    const std::vector<SearchSentence> sentences = sentences_with_phrases();
    const auto together = search.run(sentences);
    for (size_t n = 0; n < sentences.size(); ++n) {
      ASSERT_FALSE(together[n].empty());
      for (const Hypothesis& hypothesis : together[n]) {
        for (const RequiredPhrase& phrase : sentences[n].required) {
          EXPECT_TRUE(holds(hypothesis.ids, phrase.ids)) << "beam " << beam << ", sentence " << n;
        }
      }
      // Without a batch the translation is bit-identical.
      SearchSentence alone = sentences[n];
      alone.number = 0;
      const auto by_itself = search.run({alone});
      EXPECT_EQ(by_itself[0][0].ids, together[n][0].ids);
      EXPECT_EQ(by_itself[0][0].score, together[n][0].score);
    }
  }
}

TEST(ConstrainedSearch, EqualPhrasesGiveDifferentTranslations) {
  const TinyTransformer model;
  SearchOptions options;
  options.beam_size = options.nbest = 6;
  SearchSentence sentence = random_sentences(1, 10, 96, 3).front();
  sentence.required.assign(3, {{21}, true, false});
  std::set<std::vector<int32_t>> different;
  const auto found = Search(model.model, model.context(), options).run({sentence}).at(0);
  for (const Hypothesis& hypothesis : found) {
    EXPECT_GE(std::ranges::count(hypothesis.ids, 21), 3);
    different.insert(hypothesis.ids);
  }
  EXPECT_EQ(different.size(), found.size());
}

/// The best sequence of at most `longest` ids that contains the phrase: literals are ranked by score.
TEST(ConstrainedSearch, FindsTheBestTranslationWithThePhrase) {
  constexpr int64_t kVocabulary = 6;
  constexpr int64_t kLongest = 5;
  int compared = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const FunctionModel model(kVocabulary, kLongest, scrambled_logits(kVocabulary, 1.0, seed));
    SearchOptions options;
    options.max_length = kLongest + 1;
    options.max_length_factor = 0;
    options.force_end = false;
    options.beam_size = 900;
    options.nbest = 900;
    SearchSentence sentence{0, {1, 2, 0}};
    const Search search(model, {}, options);
    double best = -1e9;
    std::vector<int32_t> ids;
    const auto all = search.run({sentence});
    for (const Hypothesis& hypothesis : all[0]) {  // wide enough for all of them
      if (holds(hypothesis.ids, {3, 2}) && hypothesis.score > best) {
        best = hypothesis.score;
        ids = hypothesis.ids;
      }
    }
    if (ids.empty()) continue;
    options.nbest = 1;
    sentence.required = {{{3, 2}, true, false, false, true}};
    const auto found = Search(model, {}, options).run({sentence})[0].front();
    EXPECT_TRUE(holds(found.ids, {3, 2}));
    EXPECT_EQ(found.ids, ids) << seed;
    EXPECT_FLOAT_EQ(static_cast<float>(found.score), static_cast<float>(best)) << seed;
    ++compared;
  }
  EXPECT_GE(compared, 8);
}

// A model that is sure of "the dog sleeps ." and finds "ho und" unlikely: by `in_place` in place of the dog,
// a little less so behind the full stop.
struct Id {
  enum : int32_t { kEnd, kThe, kDog, kHo, kUnd, kSleeps, kStop, kPadding, kIds };
};

std::vector<int32_t> with_unlikely_word(float in_place) {
  const FunctionModel model(Id::kIds, 14, [=](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
    const int32_t last = ids.empty() ? int32_t{Id::kPadding} : ids.back();
    const bool again = std::ranges::count(ids, int32_t{Id::kStop}) > 0;
    std::vector<float> logits(Id::kIds, -30);
    const int32_t next = last == Id::kPadding  ? Id::kThe
                         : last == Id::kThe    ? Id::kDog
                         : last == Id::kHo     ? Id::kUnd
                         : last == Id::kStop   ? Id::kEnd
                         : last == Id::kSleeps ? Id::kStop
                         : again               ? Id::kStop
                                               : Id::kSleeps;
    logits[next] = 0;
    if (last == Id::kThe) logits[Id::kHo] = in_place;
    if (last == Id::kStop) logits[Id::kHo] = -11;
    return logits;
  });
  SearchOptions options;
  options.max_length = 14;
  options.max_length_factor = 0;
  SearchSentence sentence{0, {1, 2, 0}};
  sentence.required = {{{Id::kHo, Id::kUnd}, true, false}};
  return Search(model, {}, options).run({sentence})[0].front().ids;
}

TEST(ConstrainedSearch, UnlikelyWordsReplaceOthers) {
  // By score, the longer translation would win: -11 / 8 is more than -12 / 6.
  EXPECT_EQ(with_unlikely_word(-12),
            (std::vector<int32_t>{Id::kThe, Id::kHo, Id::kUnd, Id::kSleeps, Id::kStop, Id::kEnd}));
  // The negative control: where they can hardly stand elsewhere, they stand at the end.
  EXPECT_EQ(with_unlikely_word(-29), (std::vector<int32_t>{Id::kThe, Id::kDog, Id::kSleeps, Id::kStop,
                                                           Id::kHo, Id::kUnd, Id::kStop, Id::kEnd}));
}

TEST(ConstrainedSearch, PhrasesEndWhereWordsEnd) {
  const TinyTransformer model;
  SearchOptions options;
  auto starts = std::make_shared<std::vector<PieceStart>>(97, PieceStart::kOther);
  for (size_t id = 2; id < 97; id += 2) (*starts)[id] = PieceStart::kLetter;  // half of all continue a word
  options.piece_starts = starts;
  std::vector<SearchSentence> sentences = sentences_with_phrases();
  const auto continued = [&](bool whole_word) {
    int count = 0;
    for (SearchSentence& sentence : sentences) {
      for (RequiredPhrase& phrase : sentence.required) phrase.whole_word = whole_word;
    }
    const auto found = Search(model.model, model.context(), options).run(sentences);
    for (size_t n = 0; n < found.size(); ++n) {
      const std::vector<int32_t>& ids = found[n].front().ids;
      const std::vector<int32_t>& phrase = sentences[n].required[1].ids;
      const auto position = std::search(ids.begin(), ids.end(), phrase.begin(), phrase.end());
      const auto behind = position - ids.begin() + static_cast<int64_t>(phrase.size());
      const bool next_is_required = ids[behind] == sentences[n].required[0].ids[0];
      if ((*starts)[ids[behind]] == PieceStart::kLetter && !next_is_required) ++count;
    }
    return count;
  };
  EXPECT_EQ(continued(true), 0);
  EXPECT_GT(continued(false), 0);
}

// A model that continues a number with ",0000".
TEST(ConstrainedSearch, NumbersEndWhereTheyShould) {
  enum : int32_t { kEnd, kNumber, kComma, kZero, kStop, kStart, kIds };
  const FunctionModel model(kIds, 12, [](const std::vector<int32_t>&, const std::vector<int32_t>& ids) {
    const int32_t last = ids.empty() ? static_cast<int32_t>(kStart) : ids.back();
    std::vector<float> logits(kIds, 0);
    const bool in_number = last == kNumber || last == kComma || last == kZero;
    const int32_t next = last == kStop ? kEnd : last == kNumber ? kComma : in_number ? kZero : kStop;
    logits[next] = 5;
    if (last != kStart) logits[kNumber] = -90;  // so that it is not generated twice
    return logits;
  });
  SearchOptions options;
  options.max_length = 12;
  options.max_length_factor = 0;
  const auto translated = [&](PieceStart comma, bool number) {
    using enum PieceStart;
    options.piece_starts = std::make_shared<const std::vector<PieceStart>>(
        std::vector<PieceStart>{kOther, kOther, comma, kDigit, kOther, kOther});
    SearchSentence sentence{0, {1, 2, 0}};
    sentence.required = {{{kNumber}, true, false, number, true}};
    return Search(model, {}, options).run({sentence})[0].front().ids;
  };
  EXPECT_TRUE(holds(translated(PieceStart::kSeparator, false), {kNumber, kComma, kZero}));
  EXPECT_FALSE(holds(translated(PieceStart::kSeparator, true), {kNumber, kComma, kZero}));
  EXPECT_TRUE(holds(translated(PieceStart::kSeparator, true), {kNumber, kComma}));  // as in "1.500, and"
  EXPECT_FALSE(holds(translated(PieceStart::kSeparatedDigit, true), {kNumber, kComma}));
}

TEST(ConstrainedSearch, NeverReturnsForbiddenIds) {
  const TinyTransformer model;
  const Search search(model.model, model.context(), {});
  std::vector<SearchSentence> sentences = random_sentences(5, 9, 90, 5);
  const auto before = search.run(sentences);
  for (size_t n = 0; n < sentences.size(); ++n) sentences[n].forbidden = {before[n].front().ids[0]};
  const auto after = search.run(sentences);
  for (size_t n = 0; n < sentences.size(); ++n) {
    EXPECT_EQ(std::ranges::count(after[n].front().ids, before[n].front().ids[0]), 0);
  }
}

}  // namespace
}  // namespace heed::search
