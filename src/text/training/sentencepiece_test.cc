#include "text/training/test_sentencepiece_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "base/files/file.h"
#include "base/log.h"
#include "heed/error.h"
#include "text/terms/placeholder_piece.h"
#include "text/tokenizers/test_text.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

std::vector<std::string> texts_of(const std::vector<Piece>& pieces) {
  std::vector<std::string> texts;
  for (const Piece& piece : pieces) texts.push_back(piece.text);
  return texts;
}

SentencePieceModel train_model(const SentencePieceTrainOptions& options, size_t lines = 400) {
  return SentencePieceModel::from_bytes(
      SentencePieceModel::train(options, reader_of(artificial_lines(lines))), "test");
}

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kNumeric;
}

/// What identity normalization makes of text, by its own definition: U+2581 read as a space, single spaces
/// (U+0020 alone is a space to it).
std::string trimmed(const std::string& text) {
  std::string result;
  bool pending = false;
  for (const char32_t c : utf8_to_utf32(text)) {
    if (c == ' ') {
      pending = !result.empty();
      continue;
    }
    if (pending) result += ' ';
    pending = false;
    append_utf8(result, c);
  }
  return result;
}

class EveryType : public testing::TestWithParam<SubwordType> {};
INSTANTIATE_TEST_SUITE_P(SentencePiece, EveryType, testing::Values(SubwordType::kUnigram, SubwordType::kBpe));

TEST_P(EveryType, TrainsAndDecodes) {
  const int size =
      GetParam() == SubwordType::kUnigram ? 330 : 400;  // each reaches whole words at its own size
  const SentencePieceModel model = train_model({.type = GetParam(), .vocabulary_size = size});
  EXPECT_EQ(model.size(), size);
  EXPECT_THAT(texts_of(model.encode("the house")), testing::ElementsAre("▁the", "▁house"));
  EXPECT_THAT(texts_of(model.encode("☃")), testing::ElementsAre("▁", "<0xE2>", "<0x98>", "<0x83>"));
  EXPECT_TRUE(model.encode("").empty());
  EXPECT_TRUE(model.encode(" \t ").empty());
  for (const std::string& line : artificial_lines(50, 2))
    EXPECT_EQ(model.decode(texts_of(model.encode(line))), line);
}

TEST_P(EveryType, RoundTripAndSpansOnAnyText) {
  const SentencePieceModel model = train_model(
      {.type = GetParam(), .vocabulary_size = 400, .normalization = TextNormalization::kIdentity});
  Random random(RandomKey::from_seed(5));
  for (int n = 0; n < 500; ++n) {
    std::string text = random_text(random, 12);
    const std::vector<Piece> pieces = model.encode(text);
    size_t begin = 0, end = 0;
    for (const Piece& piece : pieces) {
      EXPECT_LE(begin, piece.begin);
      EXPECT_LE(end, piece.end);
      EXPECT_LE(piece.begin, piece.end);
      begin = piece.begin, end = piece.end;
    }
    EXPECT_LE(end, text.size());
    // The mark of a space is the one character that cannot come back.
    if (text.find("▁") != std::string::npos) continue;
    EXPECT_EQ(model.decode(texts_of(pieces)), trimmed(text)) << text;
  }
}

TEST_P(EveryType, SameBytesForTheSameText) {
  const SentencePieceTrainOptions options{.type = GetParam(), .vocabulary_size = 350};
  EXPECT_EQ(train_model(options).bytes(), train_model(options).bytes());
  EXPECT_NE(train_model(options).bytes(), train_model(options, 399).bytes());
}

TEST_P(EveryType, ReducesAVocabularyThatIsTooLarge) {
  std::vector<std::string> warnings;
  set_log_handler([&](LogLevel, const std::string& message) { warnings.push_back(message); });
  const SentencePieceModel model = train_model({.type = GetParam(), .vocabulary_size = 20000});
  set_log_handler(nullptr);
  EXPECT_LT(model.size(), 2000);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], testing::HasSubstr("from 20000 to " + std::to_string(model.size())));
}

TEST(SentencePiece, SplitsDigitsIfEnabled) {
  const auto longest_number = [](bool split) {
    int line = 0;
    const NextLine next = [&](std::string& text) {
      text = "im Jahr 1984 kamen 1984 Leute aus " + std::string(1, static_cast<char>('a' + line % 26));
      return ++line < 300;
    };
    const SentencePieceTrainOptions options{
        .type = SubwordType::kBpe, .vocabulary_size = 300, .split_digits = split};
    const auto model = SentencePieceModel::from_bytes(SentencePieceModel::train(options, next), "test");
    size_t longest = 0;
    for (const std::string& piece : texts_of(model.encode("1984"))) {
      longest = std::max<size_t>(longest,
                                 std::ranges::count_if(piece, [](char c) { return c >= '0' && c <= '9'; }));
    }
    return longest;
  };
  EXPECT_EQ(longest_number(true), 1u);
  EXPECT_GT(longest_number(false), 1u) << "the control";
}

TEST_P(EveryType, SymbolsAreSinglePieces) {
  SentencePieceTrainOptions options{.type = GetParam(), .vocabulary_size = 400, .split_digits = true};
  for (int n = 0; n < 12; ++n) options.symbols.push_back(placeholder_piece(n));
  const SentencePieceModel model = train_model(options);
  const std::string text = "das \u27e60\u27e7, a\u27e611\u27e7\u27e61\u27e7 Haus";
  std::vector<std::string> symbols;
  for (const std::string& piece : texts_of(model.encode(text))) {
    if (piece.find("\u27e6") != std::string::npos) symbols.push_back(piece);
  }
  EXPECT_EQ(symbols, (std::vector<std::string>{"\u27e60\u27e7", "\u27e611\u27e7", "\u27e61\u27e7"}));
  EXPECT_EQ(model.decode(texts_of(model.encode(text))), text);
  options.symbols = {"a,b"};
  EXPECT_EQ(kind_of([&] { train_model(options); }), ErrorKind::kUsage);
}

TEST(SentencePiece, SpansNameTheBytesOfTheOriginal) {
  const SentencePieceModel model = train_model({.vocabulary_size = 400});
  const std::string text = "  Häuser \u00a0und½ ";
  std::vector<std::string> parts;
  for (const Piece& piece : model.encode(text))
    parts.push_back(text.substr(piece.begin, piece.end - piece.begin));
  EXPECT_EQ(parts.front(), "Häuser");  // trimmed space belongs to no piece
  EXPECT_EQ(parts[1], " \u00a0und");
}

TEST(SentencePiece, SampleFollowsTheProbabilities) {
  const SentencePieceModel model = train_model({.vocabulary_size = 400, .byte_fallback = false});
  const std::string text = "walking houses";
  Random one(RandomKey::from_seed(1)), same(RandomKey::from_seed(1));
  std::map<std::vector<std::string>, int> seen;
  for (int n = 0; n < 300; ++n) {
    const auto cut = texts_of(model.sample(text, {0.1, 16}, one)[0]);
    EXPECT_EQ(cut, texts_of(model.sample(text, {0.1, 16}, same)[0]));
    EXPECT_EQ(model.decode(cut), text);
    ++seen[cut];
  }
  EXPECT_GT(seen.size(), 4u);
  EXPECT_LE(seen.size(), 16u);
  // With a large alpha, or of one, the best cut is what is drawn.
  const auto best = texts_of(model.encode(text));
  EXPECT_EQ(texts_of(model.sample(text, {1000, 16}, one)[0]), best);
  EXPECT_EQ(texts_of(model.sample(text, {0, 1}, one)[0]), best);
  // With alpha 0 all are equally likely: 16 cuts, each 600/16 = 37.5 times, standard deviation 6.
  std::map<std::vector<std::string>, int> flat;
  for (int n = 0; n < 600; ++n) ++flat[texts_of(model.sample(text, {0, 16}, one)[0])];
  for (const auto& [cut, count] : flat) EXPECT_NEAR(count, 600.0 / static_cast<double>(flat.size()), 5 * 6.0);
  EXPECT_TRUE(model.sample("", {0.1, 16}, one).at(0).empty());
}

TEST(SentencePiece, SamplesFromAllSegmentations) {
  const SentencePieceModel model = train_model({.vocabulary_size = 400});
  const std::string text =
      "walking the smallest houses \u2603 and seeing kleinere trees";  // the snowman is spelt in bytes
  Random one(RandomKey::from_seed(1)), same(RandomKey::from_seed(1));
  std::set<std::vector<std::string>> seen;
  for (int n = 0; n < 100; ++n) {
    const auto pieces = model.sample(text, {0.1, 0}, one).at(0);
    EXPECT_EQ(texts_of(pieces), texts_of(model.sample(text, {0.1, 0}, same).at(0)));
    EXPECT_EQ(model.decode(texts_of(pieces)), text);
    for (size_t k = 1; k < pieces.size(); ++k) EXPECT_LE(pieces[k - 1].begin, pieces[k].begin);
    for (const Piece& piece : pieces) {
      EXPECT_EQ(model.piece(piece.number), piece.text);
      EXPECT_LE(piece.end, text.size());
    }
    seen.insert(texts_of(pieces));
  }
  EXPECT_GT(seen.size(), 64u);
  EXPECT_EQ(texts_of(model.sample(text, {1000, 0}, one).at(0)), texts_of(model.encode(text)));
  EXPECT_TRUE(model.sample("", {0.1, 0}, one).at(0).empty());
}

TEST(SentencePiece, SampleRefusesInvalidOptions) {
  const SentencePieceModel unigram = train_model({.vocabulary_size = 400});
  const SentencePieceModel bpe = train_model({.type = SubwordType::kBpe, .vocabulary_size = 400});
  Random random(RandomKey::from_seed(1));
  EXPECT_EQ(kind_of([&] { bpe.sample("a", {0.1, 8}, random); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([&] { unigram.sample("a", {0.1, -1}, random); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([&] { unigram.sample("a", {-1, 8}, random); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([&] { unigram.sample("a", {NAN, 8}, random); }), ErrorKind::kUsage);
}

TEST(SentencePiece, SamplesTrainingLines) {
  const SentencePieceTrainOptions sampled{.vocabulary_size = 350, .max_sentences = 100};
  SentencePieceTrainOptions other = sampled;
  other.seed = 2;
  EXPECT_EQ(train_model(sampled).bytes(), train_model(sampled).bytes());
  EXPECT_NE(train_model(sampled).bytes(), train_model(other).bytes());
}

TEST(SentencePiece, DecodesAnyIds) {
  const SentencePieceModel model = train_model({.vocabulary_size = 400});
  EXPECT_EQ(model.decode({"▁", "<0xE2>", "<0x98>", "▁the"}), "\uFFFD\uFFFD the");
  EXPECT_EQ(model.decode({"", "▁the", "", "</s>"}), "the");
  EXPECT_EQ(model.decode({"▁never-seen"}), "▁never-seen");
  EXPECT_EQ(model.decode({}), "");
}

TEST(SentencePiece, RefusesToTrainOnNothing) {
  // Each of these ended the process in the library: nothing, white space, and what normalization removes.
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {}, {"", ""}, {" ", "\u3000"}, {"\x01\x02", "\u200b"}, {"▅"}, {std::string(5000, 'a')}}) {
    for (const auto type : {SubwordType::kUnigram, SubwordType::kBpe}) {
      EXPECT_EQ(kind_of([&] { SentencePieceModel::train({.type = type}, reader_of(lines)); }),
                ErrorKind::kText);
    }
  }
  EXPECT_EQ(kind_of([] { train_model({.vocabulary_size = 100}); }),
            ErrorKind::kUsage);  // fewer than the bytes
  EXPECT_EQ(kind_of([] { train_model({.character_coverage = 0.5}); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { train_model({.vocabulary_size = 0}); }), ErrorKind::kUsage);
}

TEST(SentencePiece, TrainsOnVeryLittle) {
  for (const std::string line : {"a", "1", "\t", "\x01 b", "\xFF", "<unk>", "</s>", "aaaaaaaa", "\u2581"}) {
    for (const auto type : {SubwordType::kUnigram, SubwordType::kBpe}) {
      for (const auto normalization : {TextNormalization::kNmtNfkc, TextNormalization::kIdentity}) {
        const SentencePieceTrainOptions options{.type = type, .normalization = normalization};
        try {
          const std::string bytes = SentencePieceModel::train(options, reader_of({line}));
          SentencePieceModel::from_bytes(bytes, "test").encode(line);
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::kText) << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace heed
