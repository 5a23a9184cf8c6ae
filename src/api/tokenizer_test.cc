#include "heed/tokenizer.h"

#include <gtest/gtest.h>

#include "base/text/json_file.h"
#include "models/families/transformer_families.h"
#include "models/test_models.h"
#include "paths.h"
#include "test_folder.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/test_text.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

/// The texts that tokens come from.
std::vector<std::string> parts_of(const std::string& text, const Tokens& tokens) {
  std::vector<std::string> parts;
  for (const auto& [begin, end] : tokens.offsets) parts.push_back(text.substr(begin, end - begin));
  return parts;
}

Tokenizer bundled(const std::string& name) {
  return Tokenizer(source_folder() + "/models/" + name);
}

TEST(PublicTokenizer, IdsPiecesAndOffsetsOfATranslationModel) {
  const Tokenizer tokenizer = bundled("de-en");
  const std::string text = "Der Hund schläft.";
  const Tokens tokens = tokenizer.encode(text);
  EXPECT_EQ(tokens.pieces, (std::vector<std::string>{"▁Der", "▁Hund", "▁schläft", ".", "</s>"}));
  EXPECT_EQ(parts_of(text, tokens), (std::vector<std::string>{"Der", " Hund", " schläft", ".", ""}));
  EXPECT_EQ(tokens.offsets.back(), (std::pair<size_t, size_t>{text.size(), text.size()}));
  EXPECT_EQ(tokens.texts, (std::vector<int>{0, 0, 0, 0, -1}));
  for (size_t n = 0; n < tokens.ids.size(); ++n) {
    EXPECT_EQ(tokenizer.piece(tokens.ids[n], TextSide::kSource), tokens.pieces[n]);
    EXPECT_EQ(tokenizer.find(tokens.pieces[n], TextSide::kSource), tokens.ids[n]);
  }
  EXPECT_EQ(tokenizer.decode(tokens.ids, TextSide::kSource), text);
  Tokens bare = tokenizer.encode(text, {.frame = false});
  bare.ids.push_back(*tokenizer.special_tokens().end);
  EXPECT_EQ(bare.ids, tokens.ids);
  EXPECT_EQ(tokenizer.special_tokens(TextSide::kSource).after, std::vector<int32_t>{tokens.ids.back()});
}

/// SentencePiece normalizes with NFKC: "ﬁ" becomes "fi", "½" becomes three characters, one of them in bytes,
/// "Ａ" an A, and spaces one.
TEST(PublicTokenizer, OffsetsAreInTheTextThatWasGiven) {
  const Tokenizer tokenizer = bundled("de-en");
  const std::string text = "  Ａ ﬁnden\u00A0 ½  Größe…";
  const Tokens tokens = tokenizer.encode(text, {.frame = false});
  size_t before = 0;
  std::string pieces;
  for (size_t n = 0; n < tokens.ids.size(); ++n) {
    const auto [begin, end] = tokens.offsets[n];
    EXPECT_LE(begin, end);
    EXPECT_LE(before, begin) << n;
    before = begin;
    for (const size_t at : {begin, end}) {
      EXPECT_TRUE(at == text.size() || !is_continuation_byte(text[at])) << n;
    }
    pieces += tokens.pieces[n];
  }
  EXPECT_EQ(pieces, "▁A▁finden▁1<0xE2><0x81><0x84>2▁Größe...");
  EXPECT_EQ(tokens.offsets.back().second, text.size());
}

TEST(PublicTokenizer, TwoVocabularies) {
  const Tokenizer tokenizer = bundled("de-en");
  const Tokens source = tokenizer.encode("the", {.side = TextSide::kTarget, .frame = false});
  EXPECT_EQ(tokenizer.decode(source.ids), "the");
  EXPECT_EQ(tokenizer.piece(source.ids[0]), "▁the");
}

/// Writes config.json of a language model over a tokenizer.
void write_language_model(const TestFolder& folder, const ModelTokenizer& tokenizer) {
  write_json(folder.path("config.json"),
             models::small_llama(tokenizer.size()).config_json());  // and no weights
  tokenizer.save(folder.path());
}

TEST(PublicTokenizer, ByteLevelTokensOfOneCharacter) {
  const TestFolder folder;
  std::string all;
  for (const std::string& line : artificial_lines(300)) all += line + '\n';
  bool more = true;
  const auto once = [&](std::string& text) { return text = all, std::exchange(more, false); };
  write_language_model(folder, train_language_tokenizer({.vocabulary_size = 400}, once));
  const Tokenizer tokenizer(folder.path());
  const std::string text = "größer 本 🐕 the";
  const Tokens tokens = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(tokens.ids), text);
  // Every byte belongs to a token, in order.
  size_t end = 0;
  for (const auto& [first, last] : tokens.offsets) {
    EXPECT_LE(first, end);
    end = std::max(end, last);
  }
  EXPECT_EQ(end, text.size());
  EXPECT_GT(tokens.ids.size(), 4U);
  // A character that was cut.
  const Tokens dog = tokenizer.encode("🐕");
  ASSERT_GT(dog.ids.size(), 1U);
  EXPECT_EQ(tokenizer.decode({dog.ids[0]}), "\uFFFD");
}

TEST(PublicTokenizer, SpecialTokensInATextAreTextUnlessAskedFor) {
  const TestFolder folder;
  std::string all = "the dog";
  const auto once = [&](std::string& text) { return !(text = std::exchange(all, "")).empty(); };
  write_language_model(folder, train_language_tokenizer({.vocabulary_size = 260}, once));
  const Tokenizer tokenizer(folder.path());
  const int32_t end = tokenizer.special_tokens().end.value();
  const std::string name = tokenizer.piece(end);
  EXPECT_GT(tokenizer.encode(name).ids.size(), 1U);
  EXPECT_EQ(tokenizer.encode(name, {.special_tokens = true}).ids, std::vector<int32_t>{end});
}

TEST(PublicTokenizer, Errors) {
  const Tokenizer tokenizer = bundled("de-en");
  expect_error(ErrorKind::kText, "the text is not UTF-8, at byte 1", [&] { tokenizer.encode("a\xFF"); });
  expect_error(ErrorKind::kUsage, "leave out special_tokens",
               [&] { tokenizer.encode("a", {.special_tokens = true}); });
  expect_error(ErrorKind::kUsage, "pairs of texts are for encoders",
               [&] { tokenizer.encode_pair("a", "b"); });
  expect_error(ErrorKind::kUsage, "", [&] { tokenizer.piece(-1); });
  expect_error(ErrorKind::kUsage, "", [&] { tokenizer.decode({tokenizer.vocabulary_size()}); });
  expect_error(ErrorKind::kNotFound, "", [] { Tokenizer("/nowhere"); });
  EXPECT_EQ(tokenizer.find("no such piece"), std::nullopt);
}

}  // namespace
}  // namespace heed
