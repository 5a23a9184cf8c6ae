#include "text/tokenizers/encoder_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/file.h"
#include "test_folder.h"
#include "text/test_cases.h"
#include "text/tokenizers/config/encoder_tokenizer_config.h"
#include "text/tokenizers/test_text.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using testing::ElementsAre;
using Ids = std::vector<int32_t>;
using Json = nlohmann::json;

// Beside the ids that BertTokenizer of transformers 5.23 gives for this vocabulary.
const std::vector<std::string> kPieces{
    "[PAD]", "[UNK]", "[CLS]", "[SEP]",  "[MASK]", "the", "film", "##s", "is",   "good", "cafe",
    "café",  "naive", "un",    "##love", "##ly",   "!",   "'",    "it",  "s",    "-",    "中",
    "国",    "$",     "5",     "##0",    "ı",      "i",   "ß",    "ᄒ",  "##ᅡ", "##ᆫ", "a",
    "b",     "##b",   "Film",  "Café",   "##é",    ".",   "[",    "]",   "mask"};

ModelTokenizer tokenizer(const BertWordOptions& words = {}) {
  WordPieceSettings settings;
  settings.words = words;
  return wordpiece_tokenizer(kPieces, settings);
}

TEST(WordPiece, GivesTheIdsOfBertTokenizer) {
  const ModelTokenizer t = tokenizer();
  EXPECT_EQ(t.encode("The FILMS is  good!").ids, (Ids{2, 5, 6, 7, 8, 9, 16, 3}));
  EXPECT_EQ(t.encode("It's un-lovely: unlovely").ids, (Ids{2, 18, 17, 19, 13, 20, 1, 1, 13, 14, 15, 3}));
  EXPECT_EQ(t.encode("CAFÉ Cafe\u0301 na\u00efve").ids, (Ids{2, 10, 10, 12, 3}));
  EXPECT_EQ(t.encode("中国x中").ids, (Ids{2, 21, 22, 1, 21, 3}));
  EXPECT_EQ(t.encode("$50 ßẞ İ ı").ids, (Ids{2, 23, 24, 25, 1, 27, 26, 3}));
  EXPECT_EQ(t.encode("\ud55c").ids, (Ids{2, 29, 30, 31, 3}));  // a syllable, decomposed
  EXPECT_EQ(t.encode("").ids, (Ids{2, 3}));
}

TEST(WordPiece, SettingsChangeTheWords) {
  const std::string text = "The FILMS Café café 中国x中";
  EXPECT_EQ(tokenizer().encode(text).ids, (Ids{2, 5, 6, 7, 10, 10, 21, 22, 1, 21, 3}));
  EXPECT_EQ(tokenizer({.lowercase = false, .strip_accents = false}).encode(text).ids,
            (Ids{2, 1, 1, 36, 11, 21, 22, 1, 21, 3}));
  EXPECT_EQ(tokenizer({.strip_accents = false}).encode(text).ids,
            (Ids{2, 5, 6, 7, 11, 11, 21, 22, 1, 21, 3}));
  EXPECT_EQ(tokenizer({.chinese_apart = false}).encode(text).ids, (Ids{2, 5, 6, 7, 10, 10, 1, 3}));
}

TEST(WordPiece, RemovesControlsAndSplitsAtWhiteSpace) {
  const std::string text = std::string("a\tb\u200bb\u00a0a\u2028b") + '\0' + "\x07\ufffd.";
  EXPECT_EQ(tokenizer().encode(text).ids, (Ids{2, 32, 33, 34, 32, 33, 38, 3}));
  EXPECT_EQ(tokenizer().encode("a\xff.").ids, (Ids{2, 32, 38, 3}));  // not UTF-8
}

TEST(WordPiece, SpansAreBytesOfTheOriginalText) {
  const std::string text = "É: The CAFÉ-films";
  const Encoding encoding = tokenizer().encode(text);
  std::vector<std::string> covered;
  for (const auto& [begin, end] : encoding.spans) covered.push_back(text.substr(begin, end - begin));
  EXPECT_THAT(covered, ElementsAre("", "É", ":", "The", "CAFÉ", "-", "film", "s", ""));
  EXPECT_EQ(encoding.spans.back().first, text.size());
  EXPECT_EQ(encoding.pieces, (std::vector<std::string>{"[CLS]", "[UNK]", "[UNK]", "the", "cafe", "-", "film",
                                                       "##s", "[SEP]"}));
}

TEST(WordPiece, AWordOfMoreThanHundredCharactersIsUnknown) {
  std::vector<std::string> pieces = kPieces;
  pieces.emplace_back("##a");
  const ModelTokenizer t = wordpiece_tokenizer(pieces, {});
  EXPECT_EQ(t.encode(std::string(100, 'a')).ids.size(), 102u);
  EXPECT_EQ(t.encode(std::string(101, 'a')).ids, (Ids{2, 1, 3}));
}

TEST(WordPiece, SpecialTokensInTheTextAreText) {
  const ModelTokenizer t = tokenizer();
  EXPECT_EQ(t.encode("[MASK] film").ids, (Ids{2, 39, 41, 40, 6, 3}));
  EXPECT_EQ(t.encode("[MASK] film", {.read_mask = true}).ids, (Ids{2, 4, 6, 3}));
  EXPECT_EQ(t.encode("the[MASK].[MASK]", {.read_mask = true}).ids, (Ids{2, 5, 4, 38, 4, 3}));
  EXPECT_EQ(t.encode("[mask] [SEP]", {.read_mask = true}).ids, (Ids{2, 39, 41, 40, 39, 1, 40, 3}));
}

TEST(WordPiece, PairsHaveTypes) {
  const Encoding encoding = tokenizer().encode("the film", "good");
  EXPECT_EQ(encoding.ids, (Ids{2, 5, 6, 3, 9, 3}));
  EXPECT_EQ(encoding.types, (Ids{0, 0, 0, 0, 1, 1}));
}

TEST(WordPiece, TruncationKeepsTheEndAndTakesFromTheLongerText) {
  const ModelTokenizer t = tokenizer();
  EXPECT_EQ(t.encode("the film is good", {.max_length = 4}).ids, (Ids{2, 5, 6, 3}));
  EXPECT_EQ(t.encode("the film", {.max_length = 4}).ids, (Ids{2, 5, 6, 3}));
  EXPECT_TRUE(t.encode("the film is good", {.max_length = 4}).truncated);
  EXPECT_FALSE(t.encode("the film", {.max_length = 4}).truncated);
  EXPECT_TRUE(t.encode("the", "film", {.max_length = 4}).truncated);
  // How many tokens of each text BertTokenizer keeps, by their numbers, for 12 in all.
  const auto kept = [&](size_t first, size_t second) {
    std::string one, two;
    for (size_t n = 0; n < first; ++n) one += "a ";
    for (size_t n = 0; n < second; ++n) two += "b ";
    const Encoding encoding = t.encode(one, two, {.max_length = 12});
    return std::pair(std::count(encoding.ids.begin(), encoding.ids.end(), 32),
                     std::count(encoding.ids.begin(), encoding.ids.end(), 33));
  };
  EXPECT_EQ(kept(4, 5), std::pair(4l, 5l));
  EXPECT_EQ(kept(5, 5), std::pair(4l, 5l));
  EXPECT_EQ(kept(5, 8), std::pair(4l, 5l));
  EXPECT_EQ(kept(6, 5), std::pair(5l, 4l));
  EXPECT_EQ(kept(8, 7), std::pair(5l, 4l));
  EXPECT_EQ(kept(2, 50), std::pair(2l, 7l));
  EXPECT_EQ(kept(50, 2), std::pair(7l, 2l));
}

TEST(WordPiece, TruncationOnTheLeftKeepsTheEndOfTexts) {
  // As BertTokenizer with truncation_side "left".
  WordPieceSettings settings;
  settings.truncates_left = true;
  const TestFolder folder;
  wordpiece_tokenizer(kPieces, settings).save(folder.path());
  const ModelTokenizer t = load_encoder_tokenizer(folder.path());
  const Encoding encoding = t.encode("the film is good", {.max_length = 4});
  EXPECT_EQ(encoding.ids, (Ids{2, 8, 9, 3}));
  EXPECT_EQ(encoding.spans[1], std::pair(size_t{9}, size_t{11}));
  EXPECT_TRUE(encoding.truncated);
  EXPECT_EQ(t.encode("the film is", "good a b", {.max_length = 7}).ids, (Ids{2, 6, 8, 3, 32, 33, 3}));
  EXPECT_EQ(t.encode("the film", {.max_length = 4}).ids, (Ids{2, 5, 6, 3}));
  EXPECT_TRUE(read_wordpiece_config(R"({"truncation_side": "left"})", "x").settings.truncates_left);
  EXPECT_FALSE(read_wordpiece_config(R"({"truncation_side": "right"})", "x").settings.truncates_left);
  expect_error(ErrorKind::kFormat, "'truncation_side'",
               [] { read_wordpiece_config(R"({"truncation_side": "up"})", "x"); });
}

TEST(WordPiece, MaxMatchDropoutAndWordDropout) {
  const ModelTokenizer t = train_wordpiece({.vocabulary_size = 200, .alphabet = 100, .minimum_count = 1},
                                           reader_of(artificial_lines(200)));
  const std::string line = "the smaller houses and trees";
  const Ids best = t.encode(line).ids;
  std::set<Ids> ways;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(RandomKey::from_seed(seed)), again(RandomKey::from_seed(seed));
    const auto encode = [&](Random& r) {
      return t.encode(line, {.dropout = WordPieceDropout{.pieces = 0.3, .random = &r}});
    };
    const Encoding drawn = encode(random);
    EXPECT_EQ(encode(again).ids, drawn.ids);
    EXPECT_EQ(t.decode(drawn.ids), line);  // the same text, whatever the cut
    ways.insert(drawn.ids);
  }
  EXPECT_GT(ways.size(), 20u);
  Random random(RandomKey::from_seed(1));
  EXPECT_EQ(t.encode(line, {.dropout = WordPieceDropout{.random = &random}}).ids, best);
  int hidden = 0;
  for (int n = 0; n < 400; ++n) {
    const Ids ids = t.encode(line, {.dropout = WordPieceDropout{.words = 0.25, .random = &random}}).ids;
    hidden += static_cast<int>(std::count(ids.begin(), ids.end(), t.vocabulary().unknown_id()));
  }
  EXPECT_NEAR(hidden / 2000.0, 0.25, 5 * std::sqrt(0.25 * 0.75 / 2000));
}

TEST(WordPiece, DecodesWordsForReading) {
  const ModelTokenizer t = tokenizer();
  EXPECT_EQ(t.decode(t.encode("unlovely films, is it").ids), "unlovely films is it");  // without [UNK]
  expect_error(ErrorKind::kUsage, "id 42", [&] { t.decode(Ids{42}); });
}

TEST(WordPiece, AddedTokensOutsideOfTheVocabularyAreRefused) {
  const TestFolder folder;
  tokenizer().save(folder.path());
  folder.write("added_tokens.json", R"({"[MASK]": 4, "film": 6})");
  EXPECT_EQ(load_encoder_tokenizer(folder.path()).encode("film").ids, (Ids{2, 6, 3}));
  folder.write("added_tokens.json", R"({"<tool>": 42})");
  expect_error(ErrorKind::kFormat, "added_tokens.json: '<tool>' has the id 42, but the vocabulary lacks it",
               [&] { load_encoder_tokenizer(folder.path()); });
  folder.write("added_tokens.json", R"({"film": 7})");
  expect_error(ErrorKind::kFormat, "'film' has the id 7, but 6 in the vocabulary",
               [&] { load_encoder_tokenizer(folder.path()); });
}

/// A tokenizer.json with these tokens of BPE, the first three special.
ModelTokenizer with_json(const std::vector<std::string>& pieces, const Json& pre_tokenizer) {
  Json vocabulary = Json::object(), added = Json::array();
  for (size_t id = 0; id < pieces.size(); ++id) vocabulary[pieces[id]] = id;
  for (size_t id = 0; id < 3; ++id) {
    added.push_back({{"id", id},
                     {"content", pieces[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  }
  const Json json{
      {"version", "1.0"},
      {"added_tokens", added},
      {"normalizer", nullptr},
      {"pre_tokenizer", pre_tokenizer},
      {"post_processor",
       {{"type", "RobertaProcessing"},
        {"sep", {"</s>", 1}},
        {"cls", {"<s>", 0}},
        {"trim_offsets", true},
        {"add_prefix_space", false}}},
      {"decoder", nullptr},
      {"model", {{"type", "BPE"}, {"unk_token", "<unk>"}, {"vocab", vocabulary}, {"merges", Json::array()}}}};
  const TestFolder folder;
  folder.write("tokenizer.json", json.dump());
  folder.write("tokenizer_config.json",
               R"({"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<unk>", "unk_token": "<unk>"})");
  return load_encoder_tokenizer(folder.path());
}

// Where pieces spell bytes, they are shown as text; special tokens, and other spellings, as they are.
TEST(WordPiece, ShowsPiecesAsText) {
  const std::vector<std::string> pieces{"<s>",          "</s>",   "<unk>",  "\u0120the",
                                        "\u00C3\u00A4", "\u00C3", "\u010A", "a"};
  const auto shown = [](const ModelTokenizer& tokenizer) {
    std::vector<std::string> texts;
    for (int32_t id = 0; id < static_cast<int32_t>(tokenizer.size()); ++id) {
      texts.push_back(tokenizer.piece(id));
    }
    return texts;
  };
  const Json bytes{
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  const std::vector<std::string> texts{"<s>", "</s>", "<unk>", "▁the", "ä", "<0xC3>", "<0x0A>", "a"};
  EXPECT_EQ(shown(with_json(pieces, bytes)), texts);
  EXPECT_EQ(shown(with_json(pieces, {{"type", "Whitespace"}})), pieces);
}

TEST(WordPiece, SavesAndLoads) {
  TestFolder folder;
  WordPieceSettings settings;
  settings.words = {.lowercase = false, .strip_accents = true, .chinese_apart = false};
  settings.max_length = 48;
  wordpiece_tokenizer(kPieces, settings).save(folder.path());
  const ModelTokenizer back = load_encoder_tokenizer(folder.path());
  EXPECT_EQ(back.vocabulary().pieces(), kPieces);
  const BertWordOptions words =
      read_wordpiece_config(content_of(folder.path("tokenizer_config.json")), "test").settings.words;
  EXPECT_FALSE(words.lowercase);
  EXPECT_TRUE(words.strip_accents);
  EXPECT_FALSE(words.chinese_apart);
  EXPECT_EQ(back.max_length(), 48u);
  EXPECT_EQ(back.mask_id(), 4);
}

TEST(WordPiece, ReadsLinesOfWindowsAndAMissingLastEnd) {
  TestFolder folder;
  folder.write("vocab.txt", "[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nfilm");
  const ModelTokenizer t = load_encoder_tokenizer(folder.path());
  EXPECT_EQ(t.encode("film films").ids, (Ids{2, 4, 1, 3}));
  EXPECT_FALSE(t.mask_id().has_value());
  EXPECT_EQ(t.max_length(), 0u);
}

TEST(BertWords, CategoriesAreThoseOfUnicode8) {
  const auto words = [](std::string_view text) { return bert_words(text, {}); };
  EXPECT_THAT(words("a\u0300b"), ElementsAre("ab"));                // a mark of version 1
  EXPECT_THAT(words("a\u0898b"), ElementsAre("a\u0898b"));          // a mark of version 14
  EXPECT_THAT(words("a\u060cb"), ElementsAre("a", "\u060c", "b"));  // punctuation of version 1
  EXPECT_THAT(words("a\u061db"), ElementsAre("a\u061db"));          // punctuation of version 14
  EXPECT_THAT(words("a\u166db"), ElementsAre("a", "\u166d", "b"));  // punctuation until version 9
  EXPECT_THAT(words("a\U0002B920b"), ElementsAre("a", "\U0002B920", "b"));
  EXPECT_THAT(words("a\U0002B91Fb"), ElementsAre("a\U0002B91Fb"));
}

TEST(WordPiece, OnlyPaddingExplainsMissingPieces) {
  EXPECT_TRUE(is_padded_vocabulary(30522, 30522));
  EXPECT_TRUE(is_padded_vocabulary(30522, 30528));
  EXPECT_TRUE(is_padded_vocabulary(30522, 30592));   // of 128
  EXPECT_FALSE(is_padded_vocabulary(30521, 30522));  // one line lost
  EXPECT_FALSE(is_padded_vocabulary(30000, 30522));
  EXPECT_FALSE(is_padded_vocabulary(20000, 30528));
  EXPECT_FALSE(is_padded_vocabulary(30523, 30522));
}

TEST(WordPiece, RefusesInvalidVocabularies) {
  const auto expect_refused = [](const std::string& vocabulary, const std::string& config,
                                 const std::string& part) {
    TestFolder folder;
    folder.write("vocab.txt", vocabulary);
    folder.write("tokenizer_config.json", config);
    expect_error(ErrorKind::kFormat, part, [&] { load_encoder_tokenizer(folder.path()); });
  };
  const std::string good = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nfilm\n";
  expect_refused(good + "film\n", "{}", "\"film\" is duplicated");
  expect_refused(good + "\xff\n", "{}", "not valid UTF-8 at byte 29");
  expect_refused("", "{}", "no piece \"[SEP]\"");
  expect_refused("[PAD]\n[UNK]\n[SEP]\n", "{}", "lacks the start token \"[CLS]\"");
  expect_refused(good, R"({"cls_token": "<s>"})", "lacks the start token \"<s>\"");
  expect_refused(good, R"({"cls_token": 3})", "'cls_token' is 3, expected a string");
  expect_refused(good, R"({"do_lower_case": "yes"})", "'do_lower_case' is \"yes\", expected true or false");
  expect_refused(good, R"({"do_basic_tokenize": false})", "do_basic_tokenize");
  expect_refused(good, R"({"model_max_length": "long"})", "model_max_length");
  expect_refused(good, R"({"add_prefix_space": true})", "needs a tokenizer.json");
  expect_refused(good, "[]", "expected an object");
  TestFolder empty;
  expect_error(ErrorKind::kNotFound, "vocab.txt", [&] { load_encoder_tokenizer(empty.path()); });
}

TEST(WordPiece, SurvivesRandomText) {
  const ModelTokenizer t = tokenizer();
  Random random(RandomKey::from_seed(4));
  for (int n = 0; n < 300; ++n) {
    std::string text = random_text(random, 30);
    for (uint64_t spoilt = random.below(3); spoilt > 0 && !text.empty(); --spoilt) {
      text[random.below(text.size())] = static_cast<char>(random.below(256));
    }
    const Encoding encoding = t.encode(text);
    ASSERT_EQ(encoding.ids.size(), encoding.spans.size());
    size_t last = 0;
    for (const auto& [begin, end] : encoding.spans) {
      ASSERT_LE(last, begin);  // decomposed characters share their bytes, so not the last end
      ASSERT_LE(begin, end);
      ASSERT_LE(end, text.size());
      last = begin;
    }
  }
}

// ---- Learning ------------------------------------------------------------------------------------------

ModelTokenizer trained_on(const std::vector<std::string>& lines, size_t size) {
  return train_wordpiece({.vocabulary_size = size, .alphabet = 100, .minimum_count = 1}, reader_of(lines));
}

std::vector<std::string> pieces_of(const ModelTokenizer& t) {
  return t.vocabulary().pieces();
}

TEST(WordPieceTraining, MergesTheMostFrequentNeighboursFirst) {
  // "lo" and "##ow" (7 each; the first in order wins), then "low", "##er" (5), and "her" before "lower".
  const ModelTokenizer t = trained_on({"low low low low low", "lower lower", "her her her"}, 5 + 7 + 3);
  EXPECT_THAT(pieces_of(t), ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",  //
                                        "##e", "##o", "##r", "##w", "h", "l",          //
                                        "##ow", "low", "##er", "her"));
}

TEST(WordPieceTraining, EndsIfNothingIsLeftToMerge) {
  EXPECT_THAT(pieces_of(trained_on({"ab ab a"}, 1000)),
              ElementsAre("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "##b", "a", "ab"));
  // Two ways to the same piece, and a pair that stands in itself.
  const ModelTokenizer t = trained_on({"aaaaa aaaa"}, 1000);
  EXPECT_EQ(t.encode("aaaaa").ids.size(), 3u);
  EXPECT_EQ(t.encode("aaaa").ids.size(), 3u);
}

TEST(WordPieceTraining, DoesNotDependOnTheOrderOfTheLines) {
  std::vector<std::string> lines = artificial_lines(300);
  const ModelTokenizer one = trained_on(lines, 120);
  EXPECT_EQ(one.size(), 120u);
  std::reverse(lines.begin(), lines.end());
  EXPECT_EQ(pieces_of(trained_on(lines, 120)), pieces_of(one));
  EXPECT_NE(pieces_of(trained_on(artificial_lines(300, 2), 120)), pieces_of(one));
  for (const std::string& line : lines) {  // every character of the text can be spelt
    const Ids ids = one.encode(line).ids;
    EXPECT_EQ(std::count(ids.begin(), ids.end(), one.vocabulary().unknown_id()), 0) << line;
  }
}

TEST(WordPieceTraining, CountsAfterEachMergeAreThoseOfACountFromScratch) {
  // The slow way, beside the index of pairs.
  const std::vector<std::string> lines = artificial_lines(40);
  std::map<std::vector<std::string>, int> words;
  for (const std::string& line : lines) {
    for (const std::string& word : bert_words(line, {})) {
      std::vector<std::string> pieces;
      for (size_t offset = 0; offset < word.size();) {
        const size_t begin = offset;
        next_code_point(word, offset);
        pieces.push_back((begin > 0 ? "##" : "") + word.substr(begin, offset - begin));
      }
      ++words[pieces];
    }
  }
  std::vector<std::string> expected;
  std::set<std::string> characters;
  for (const auto& [pieces, count] : words) characters.insert(pieces.begin(), pieces.end());
  expected.assign(characters.begin(), characters.end());
  while (expected.size() < characters.size() + 60) {
    std::map<std::pair<std::string, std::string>, int> pairs;
    for (const auto& [pieces, count] : words) {
      for (size_t n = 0; n + 1 < pieces.size(); ++n) pairs[{pieces[n], pieces[n + 1]}] += count;
    }
    const auto rank = [&](const std::string& piece) {
      return std::find(expected.begin(), expected.end(), piece) - expected.begin();
    };
    auto best = pairs.begin();
    for (auto each = pairs.begin(); each != pairs.end(); ++each) {
      const auto key = [&](const auto& p) {
        return std::tuple(-p->second, rank(p->first.first), rank(p->first.second));
      };
      if (key(each) < key(best)) best = each;
    }
    const auto [first, second] = best->first;
    const std::string merged = first + second.substr(2);
    if (std::find(expected.begin(), expected.end(), merged) == expected.end()) expected.push_back(merged);
    std::map<std::vector<std::string>, int> changed;
    for (const auto& [pieces, count] : words) {
      std::vector<std::string> row;
      for (size_t n = 0; n < pieces.size(); ++n) {
        if (n + 1 < pieces.size() && pieces[n] == first && pieces[n + 1] == second) {
          row.push_back(merged);
          ++n;
        } else {
          row.push_back(pieces[n]);
        }
      }
      changed[row] += count;
    }
    words = changed;
  }
  std::vector<std::string> learnt = pieces_of(trained_on(lines, expected.size() + 5));
  learnt.erase(learnt.begin(), learnt.begin() + 5);
  EXPECT_EQ(learnt, expected);
}

TEST(WordPieceTraining, RefusesInvalidOptions) {
  expect_error(ErrorKind::kText, "no text", [] { trained_on({"", "  "}, 100); });
  expect_error(ErrorKind::kUsage, "a vocabulary of 7 pieces is too small: the text has 3 characters",
               [] { trained_on({"abc"}, 7); });
  // Rare characters can be left out.
  const ModelTokenizer t = train_wordpiece({.vocabulary_size = 100, .alphabet = 2, .minimum_count = 1},
                                           reader_of({"ab ab ba zz"}));
  EXPECT_EQ(t.encode("ab").ids.size(), 3u);
  EXPECT_EQ(t.encode("zz").ids, (Ids{2, 1, 3}));
}

// ---- Against BertTokenizer -------------------------------------------------------------------------------

TEST(WordPiece, AgreesWithTheReference) {
  const auto files = case_files(fixtures_folder() / "bert");
  if (files.empty()) GTEST_SKIP() << "no reference cases in " << fixtures_folder();
  for (const auto& file : files) {
    const nlohmann::json reference = read_json(file);
    const ModelTokenizer t = load_encoder_tokenizer((file.parent_path() / "model").string());
    const auto longest = reference["hyperparameters"]["longest"].get<size_t>();
    const EncodeOptions options{.max_length = longest, .read_mask = true};
    for (const auto& each : reference["texts"]) {
      const std::string text = each["text"];
      EXPECT_EQ(t.encode(text, options).ids, each["ids"].get<Ids>()) << file << ": " << text;
    }
    for (const auto& each : reference.value("pairs", nlohmann::json::array())) {
      const Encoding pair =
          t.encode(each["first"].get<std::string>(), each["second"].get<std::string>(), options);
      EXPECT_EQ(pair.ids, each["ids"].get<Ids>()) << file;
      EXPECT_EQ(pair.types, each["types"].get<Ids>()) << file;
    }
  }
}

}  // namespace
}  // namespace heed
