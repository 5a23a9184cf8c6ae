#include "text/tokenizers/language_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/file.h"
#include "heed/error.h"
#include "test_folder.h"
#include "text/test_cases.h"
#include "text/tokenizers/test_text.h"
#include "text/training/sentencepiece_writer.h"
#include "text/unicode/utf8.h"
#include "text/unicode/word_pattern.h"

namespace heed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string sample() {
  std::string text;
  for (int n = 0; n < 40; ++n) {
    text += "To be, or not to be, that is the question:\nWhether 'tis nobler in the mind to suffer\n";
    text += "The slings and arrows of outrageous fortune — number " + std::to_string(n) + "\n\n";
  }
  return text;
}

ModelTokenizer trained(TextTokenizerKind kind, int vocabulary = 330) {
  return train_language_tokenizer({.kind = kind, .vocabulary_size = vocabulary}, once(sample()));
}

const std::vector<std::string>& tricky_texts() {
  static const std::vector<std::string> texts{"",
                                              " ",
                                              "  two  spaces \n\n\tand a tab ",
                                              "It's I'll we've 'quoted' don't 1234 3.14!!",
                                              "naïve 中文 😀🏽 é\u00a0\u2003x\u00ad",
                                              std::string("\x00\x01\x7f", 3),
                                              "broken \xe4\xb8 and \xff\xfe bytes \xf0\x9f"};
  return texts;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = word_end(text, begin);
    words.emplace_back(text.substr(begin, end - begin));
    begin = end;
  }
  return words;
}

TEST(WordPattern, SplitsLikeGpt2) {
  EXPECT_THAT(words_of("Hello, world! It's we've"),
              ElementsAre("Hello", ",", " world", "!", " It", "'s", " we", "'ve"));
  EXPECT_THAT(words_of("a  b   \n"), ElementsAre("a", " ", " b", "   \n"));
  EXPECT_THAT(words_of("x\ny"), ElementsAre("x", "\n", "y"));
  EXPECT_THAT(words_of("x\n\n y"), ElementsAre("x", "\n\n", " y"));
  EXPECT_THAT(words_of("a1b 22"), ElementsAre("a", "1", "b", " 22"));
  EXPECT_THAT(words_of("''s 'S"), ElementsAre("''", "s", " '", "S"));
}

TEST(LanguageTokenizer, BytesRoundTrip) {
  for (const TextTokenizerKind kind : {TextTokenizerKind::kBytes, TextTokenizerKind::kByteBpe}) {
    const auto tokenizer = trained(kind);
    for (const std::string& text : tricky_texts()) {
      EXPECT_EQ(tokenizer.text_of(tokenizer.ids(text)), text) << name_of(kind);
      size_t at = 0;
      for (const auto& [begin, end] : tokenizer.tokens(text).spans) {
        EXPECT_EQ(begin, at);
        at = end;
      }
      EXPECT_EQ(at, text.size());
    }
  }
}

TEST(LanguageTokenizer, SentencePieceKeepsWhiteSpaceAndLineEnds) {
  const auto tokenizer = trained(TextTokenizerKind::kSentencePiece, 400);
  for (const std::string& text : tricky_texts()) {
    if (find_invalid_utf8(text) || text.find('\0') != std::string::npos) continue;
    EXPECT_EQ(tokenizer.text_of(tokenizer.ids(text)), text);
  }
  EXPECT_EQ(tokenizer.prompt_ids("be").front(), *tokenizer.start_id());
  // Where it continues another text, the space before the first word stays.
  EXPECT_EQ(tokenizer.text_of(tokenizer.ids("be"), true), " be");
}

TEST(LanguageTokenizer, CharactersAreThoseOfTheText) {
  const auto tokenizer = train_language_tokenizer({.kind = TextTokenizerKind::kCharacters}, once("bäca\n"));
  EXPECT_EQ(tokenizer.size(), 5);
  EXPECT_THAT(tokenizer.ids("\nabcä"), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(tokenizer.text_of(std::vector<int32_t>{4, 0}), "ä\n");
  try {
    tokenizer.ids("abé");
    FAIL() << "a character that is not in the vocabulary was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kText);
    EXPECT_THAT(error.what(), HasSubstr("the character 'é' (U+00E9) at byte 3 of the text"));
  }
}

TEST(LanguageTokenizer, ChunksMaySplitCharacters) {
  int given = 0;
  const auto tokenizer =
      train_language_tokenizer({.kind = TextTokenizerKind::kCharacters}, [&](std::string& chunk) {
        chunk = given == 0 ? "a\xc3" : "\xa4";
        return ++given <= 2;
      });
  EXPECT_THAT(tokenizer.ids("aä"), ElementsAre(0, 1));
}

TEST(LanguageTokenizer, SaveAndLoad) {
  using enum TextTokenizerKind;
  for (const TextTokenizerKind kind : {kBytes, kCharacters, kByteBpe, kSentencePiece}) {
    const TestFolder folder;
    const auto tokenizer = trained(kind, 400);
    tokenizer.save(folder.path());
    const auto read = load_language_tokenizer(folder.path());
    EXPECT_EQ(read.kind(), name_of(kind));
    EXPECT_EQ(read.size(), tokenizer.size());
    EXPECT_EQ(read.start_id(), tokenizer.start_id());
    EXPECT_EQ(read.end_id(), tokenizer.end_id());
    EXPECT_EQ(read.ids(sample()), tokenizer.ids(sample())) << read.kind();
    for (int32_t id = 0; id < read.size(); ++id) EXPECT_EQ(read.bytes(id), tokenizer.bytes(id));
  }
}

TEST(LanguageTokenizer, TrainingLearnsTheMostFrequentPairs) {
  // "ab" occurs six times and "bc" five; joined with a space before it, " abc" is next. A pair that occurs
  // once is not learnt.
  const auto tokenizer = train_language_tokenizer(
      {.kind = TextTokenizerKind::kByteBpe, .vocabulary_size = 300}, once(" abc abc abc abc abc ab xyz"));
  EXPECT_EQ(tokenizer.size(), 256 + 3 + 1);
  EXPECT_THAT(tokenizer.tokens(" abc ab").pieces, ElementsAre("▁abc", "▁ab"));
  EXPECT_EQ(tokenizer.piece(*tokenizer.end_id()), "<|endoftext|>");
  EXPECT_EQ(*tokenizer.end_id(), tokenizer.size() - 1);
}

TEST(LanguageTokenizer, SpecialTokensAreTextByDefault) {
  const auto tokenizer = trained(TextTokenizerKind::kByteBpe);
  const std::string text = "be<|endoftext|>be <|endoftext";
  const int32_t end = *tokenizer.end_id();
  EXPECT_EQ(tokenizer.text_of(tokenizer.ids(text)), text);
  const auto with = tokenizer.ids(text, {.special_tokens = true});
  EXPECT_EQ(std::count(with.begin(), with.end(), end), 1);
  EXPECT_EQ(tokenizer.text_of(with), "bebe <|endoftext");
  EXPECT_THAT(tokenizer.prompt_ids(""), ElementsAre(end));
}

TEST(TextStream, ReturnsWholeCharacters) {
  const auto tokenizer = trained(TextTokenizerKind::kBytes);
  for (const std::string& text : tricky_texts()) {
    TextStream stream(tokenizer);
    std::string all;
    for (const int32_t id : tokenizer.ids(text)) {
      const std::string part = stream.push(id);
      EXPECT_FALSE(find_invalid_utf8(part)) << text;
      all += part;
    }
    EXPECT_EQ(all + stream.finish(), replace_invalid_utf8(text));
  }
  TextStream stream(tokenizer);
  EXPECT_EQ(stream.push(0xe4), "");
  EXPECT_EQ(stream.push(0xb8), "");
  EXPECT_EQ(stream.push(0xad), "中");
  EXPECT_EQ(stream.push(0xe4), "");
  EXPECT_EQ(stream.push('x'), "\uFFFDx");  // nothing can complete it any more
}

TEST(SentencePieceWriter, ModelSegmentsByScores) {
  const std::vector<ScoredPiece> pieces = word_pieces();
  const ModelTokenizer tokenizer = sentencepiece_tokenizer(write_bpe_model(pieces), "made for a test", true);
  EXPECT_EQ(tokenizer.size(), static_cast<int32_t>(pieces.size()));
  EXPECT_EQ(tokenizer.start_id(), 1);
  EXPECT_EQ(tokenizer.end_id(), 2);
  EXPECT_THAT(tokenizer.tokens("the t\n").pieces, ElementsAre("\u2581the", "\u2581t", "<0x0A>"));
  EXPECT_EQ(tokenizer.text_of(tokenizer.ids("the  the é\n")), "the  the é\n");
  EXPECT_EQ(tokenizer.text_of(tokenizer.ids("<s>")), "<s>");  // no special token, but text
}

TEST(IdTokenizer, ReadsNumbers) {
  const ModelTokenizer tokenizer = id_tokenizer(20, 1);
  EXPECT_THAT(tokenizer.ids(" 3 14\n0 "), ElementsAre(3, 14, 0));
  EXPECT_EQ(tokenizer.text_of(std::vector<int32_t>{3, 14}), " 3 14");
  EXPECT_THAT(tokenizer.prompt_ids(""), ElementsAre(1));
  for (const char* text : {"20", "-1", "3x", "word", "99999999999"}) EXPECT_THROW(tokenizer.ids(text), Error);
}

struct BrokenDirectory {
  std::string vocabulary, merges, message;
};

TEST(ByteBpe, BrokenFilesAreRefused) {
  const std::vector<BrokenDirectory> cases{
      {R"({"a": 0, "b": 1})", "a b\n", "lacks the result"},
      {R"({"a": 0, "b": 1})", "a c\n", "lacks the second"},
      {R"({"a": 0, "b": 1, "ab": 2})", "#version: 0.2\na b c\n", "line 2: expected two pieces"},
      {R"({"a": 0, "b": 2})", "", "cannot have the id 2"},
      {R"({"a": 0, "a": 1})", "", "is duplicated"},
      {R"({"a": 0, "中": 1})", "", "contains a character that represents no byte"},
      {"[]", "", "not a valid vocabulary"}};
  for (const BrokenDirectory& each : cases) {
    const TestFolder folder;
    write_file(folder.path() + "/vocab.json", each.vocabulary);
    write_file(folder.path() + "/merges.txt", each.merges);
    try {
      load_language_tokenizer(folder.path());
      FAIL() << each.message;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kFormat);
      EXPECT_THAT(error.what(), HasSubstr(each.message));
    }
  }
}

TEST(ByteBpe, TruncatedMergesAreDetected) {
  const auto tokenizer = trained(TextTokenizerKind::kByteBpe);
  const TestFolder folder;
  tokenizer.save(folder.path());
  EXPECT_NO_THROW(load_language_tokenizer(folder.path()));
  const std::string merges = content_of(folder.path("merges.txt"));
  // At the end of every line, and within lines.
  for (size_t end = merges.size() - 1; end > merges.size() / 2; end -= end > merges.size() - 40 ? 1 : 17) {
    folder.write("merges.txt", merges.substr(0, end - 1));
    EXPECT_THROW(load_language_tokenizer(folder.path()), Error) << "cut at byte " << end;
  }
  folder.write("merges.txt", "#version: 0.2\n");
  expect_error(ErrorKind::kFormat, "merges.txt is truncated or belongs to another vocabulary",
               [&] { load_language_tokenizer(folder.path()); });
}

// transformers cuts words of Qwen's classes, among others, with another pattern, and normalizes them.
TEST(ByteBpe, OnlyGpt2sClassNeedsNoTokenizerJson) {
  const auto tokenizer = trained(TextTokenizerKind::kByteBpe);
  const auto open = [&](const std::string& tokenizer_config, const std::string& config) {
    const TestFolder folder;
    tokenizer.save(folder.path());
    folder.write("tokenizer_config.json", tokenizer_config);
    folder.write("config.json", config);
    return load_language_tokenizer(folder.path());
  };
  const std::string qwen = R"({"tokenizer_class": "Qwen2Tokenizer"})", gpt2 = R"({"model_type": "gpt2"})";
  const auto expect_refused = [&](const std::string& tokenizer_config, const std::string& config) {
    expect_error(ErrorKind::kFormat, "do not say how Qwen2Tokenizer cuts text into words, as tokenizer.json",
                 [&] { open(tokenizer_config, config); });
  };
  expect_refused(qwen, gpt2);
  expect_refused(R"({"tokenizer_class": "Qwen2TokenizerFast"})", "{}");
  expect_refused("{}", qwen);
  expect_refused("{}", R"({"model_type": "qwen3", "tokenizer_class": null})");
  const auto expected = tokenizer.ids(sample());
  for (const auto& [tokenizer_config, config] :
       {std::pair{"{}", "{}"},
        {"{}", R"({"model_type": "gpt2"})"},
        {R"({"tokenizer_class": "GPT2TokenizerFast"})", R"({"model_type": "llama"})"},
        {"{}", R"({"model_type": "llama", "tokenizer_class": "GPT2Tokenizer"})"}}) {
    EXPECT_EQ(open(tokenizer_config, config).ids(sample()), expected) << tokenizer_config << config;
  }
}

TEST(ByteBpe, ReadsTokenizerJson) {
  const TestFolder folder;
  write_file(folder.path() + "/tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})");
  write_file(folder.path() + "/tokenizer.json",
             R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4},
                 "merges": [["a", "b"], "Ġ ab"]}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
                 "decoder": {"type": "ByteLevel"},
                 "added_tokens": [{"id": 5, "content": "<|endoftext|>", "special": true}]})");
  const auto tokenizer = load_language_tokenizer(folder.path());
  EXPECT_THAT(tokenizer.ids("ab ab ba"), ElementsAre(3, 4, 2, 1, 0));
  EXPECT_EQ(tokenizer.end_id(), 5);
  // A character outside of the vocabulary is dropped, as in Hugging Face's library.
  EXPECT_THAT(tokenizer.ids("acb"), ElementsAre(3));
}

TEST(ByteBpe, IdsOfTheReference) {
  const auto folder = fixtures_folder() / "gpt2";
  if (!std::filesystem::exists(folder / "case.json")) GTEST_SKIP() << "no fixtures in " << fixtures_folder();
  const auto reference = read_json(folder / "case.json");
  const auto tokenizer = load_language_tokenizer((folder / "model").string());
  EXPECT_EQ(tokenizer.size(), reference["hyperparameters"]["vocabulary"].get<int32_t>());
  EXPECT_EQ(tokenizer.end_id(), reference["hyperparameters"]["end_id"].get<int32_t>());
  ASSERT_FALSE(reference["texts"].empty());
  for (const auto& each : reference["texts"]) {
    const auto text = each["text"].get<std::string>();
    const auto expected = each["ids"].get<std::vector<int32_t>>();
    EXPECT_EQ(tokenizer.ids(text, {.special_tokens = true}), expected) << text;
    if (text.find("<|") == std::string::npos) {
      EXPECT_EQ(tokenizer.text_of(expected), text);
    }
  }
  for (const auto& row : reference["generation"]["rows"]) {
    EXPECT_EQ(tokenizer.prompt_ids(row["prompt"].get<std::string>()),
              row["prompt_ids"].get<std::vector<int32_t>>());
  }
}

TEST(LanguageTokenizer, ErrorsNameMissingFiles) {
  const TestFolder folder;
  EXPECT_FALSE(has_language_tokenizer(ModelInventory(folder.path())));
  try {
    load_language_tokenizer(folder.path());
    FAIL() << "a tokenizer was found in an empty folder";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.what(), HasSubstr("tokenizer.model"));
  }
}

}  // namespace
}  // namespace heed
