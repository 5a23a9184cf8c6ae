// Added tokens of language models without a tokenizer.json.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "heed/error.h"
#include "test_folder.h"
#include "text/tokenizers/language_tokenizer.h"
#include "text/tokenizers/plain_tokenizers.h"
#include "text/tokenizers/test_text.h"
#include "text/training/sentencepiece_writer.h"

namespace heed {
namespace {

using testing::ElementsAre;

/// Writes vocab.json and merges.txt of byte-level BPE, or tokenizer.model; returns the number of pieces.
int32_t write_model(const TestFolder& folder, TextTokenizerKind kind) {
  const ModelTokenizer tokenizer =
      kind == TextTokenizerKind::kByteBpe
          ? train_language_tokenizer({.kind = kind, .vocabulary_size = 300}, once("to be or not to be "))
          : sentencepiece_tokenizer(write_bpe_model(word_pieces()), "made for a test", true);
  tokenizer.save(folder.path());
  std::filesystem::remove(folder.path("tokenizer.json"));
  std::filesystem::remove(folder.path("tokenizer_config.json"));
  return tokenizer.size();
}

constexpr TextTokenizerKind kKinds[] = {TextTokenizerKind::kByteBpe, TextTokenizerKind::kSentencePiece};

TEST(AddedTokens, OfTheConfigHaveTheirIdsAndFlags) {
  for (const TextTokenizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    const TestFolder folder;
    const int32_t size = write_model(folder, kind);
    folder.write("tokenizer_config.json",
                 fmt::format(R"({{"eos_token": "<|im_end|>", "additional_special_tokens": ["<|tool|>"],
                     "added_tokens_decoder": {{
                     "{}": {{"content": "<|im_end|>", "special": true}},
                     "{}": {{"content": "<|tool|>", "lstrip": true, "rstrip": true}},
                     "{}": {{"content": "h\u00e9", "special": false}}}}}})",
                             size, size + 1, size + 3));
    const auto check = [&](const ModelTokenizer& tokenizer) {
      EXPECT_EQ(tokenizer.size(), size + 4);
      EXPECT_EQ(tokenizer.end_id(), size);
      EXPECT_EQ(tokenizer.piece(size + 1), "<|tool|>");
      EXPECT_THAT(tokenizer.ids("<|im_end|> \t<|tool|> h\u00e9", {.special_tokens = true}),
                  ElementsAre(size, size + 1, size + 3));
      const std::string text = "be<|im_end|> h\u00e9";
      const std::vector<int32_t> ids = tokenizer.ids(text);  // special tokens are text, others are not
      EXPECT_EQ(std::ranges::count(ids, size), 0);
      EXPECT_EQ(ids.back(), size + 3);
      EXPECT_EQ(tokenizer.text_of(ids), text);
      EXPECT_EQ(tokenizer.bytes(size + 1), "");
      EXPECT_EQ(tokenizer.bytes(size + 3), "h\u00e9");
      EXPECT_EQ(tokenizer.piece(size + 2), fmt::format("<unused {}>", size + 2));
    };
    const ModelTokenizer tokenizer = load_language_tokenizer(folder.path());
    check(tokenizer);
    const TestFolder saved;
    tokenizer.save(saved.path());
    check(load_language_tokenizer(saved.path()));
  }
}

TEST(AddedTokens, OfAnOlderFile) {
  for (const TextTokenizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    const TestFolder folder;
    const int32_t size = write_model(folder, kind);
    const std::string ids = fmt::format(R"({{"<|user|>": {}, "to\u00e9": {}}})", size, size + 1);
    folder.write("added_tokens.json", ids);
    EXPECT_EQ(load_language_tokenizer(folder.path()).size(), size + 2);  // without a tokenizer_config.json
    folder.write("tokenizer_config.json", R"({"bos_token": "<|user|>", "add_bos_token": true})");
    const ModelTokenizer tokenizer = load_language_tokenizer(folder.path());
    EXPECT_EQ(tokenizer.start_id(), size);
    EXPECT_EQ(tokenizer.prompt_ids("be").front(), size);
    EXPECT_TRUE(tokenizer.is_special(size));
    EXPECT_EQ(tokenizer.ids("to\u00e9"), std::vector<int32_t>{size + 1});

    const auto decoder = [&](int32_t id) {
      folder.write("tokenizer_config.json",
                   fmt::format(R"({{"added_tokens_decoder": {{"{}": {{"content": "<|user|>"}},
                                "{}": {{"content": "to\u00e9"}}}}}})",
                               id, 2 * size + 1 - id));
    };
    decoder(size);
    EXPECT_EQ(load_language_tokenizer(folder.path()).size(), size + 2);
    decoder(size + 1);
    expect_error(ErrorKind::kFormat, "which 'added_tokens_decoder' of tokenizer_config.json contradicts",
                 [&] { load_language_tokenizer(folder.path()); });
  }
}

TEST(AddedTokens, OfAModelMayBeListedAgain) {
  const TestFolder folder;
  const int32_t size = write_model(folder, TextTokenizerKind::kSentencePiece);
  folder.write(
      "tokenizer_config.json",
      R"({"added_tokens_decoder": {"1": {"content": "<s>"}, "2": {"content": "</s>", "special": true}}})");
  const ModelTokenizer tokenizer = load_language_tokenizer(folder.path());
  EXPECT_EQ(tokenizer.size(), size);
  EXPECT_EQ(tokenizer.start_id(), 1);
  EXPECT_EQ(tokenizer.bytes(1), "");
}

TEST(AddedTokens, ContradictionsAreRefused) {
  for (const TextTokenizerKind kind : kKinds) {
    SCOPED_TRACE(name_of(kind));
    const TestFolder folder;
    const int32_t size = write_model(folder, kind);
    const auto refused = [&](const std::string& config, const std::string& why) {
      folder.write("tokenizer_config.json", config);
      expect_error(ErrorKind::kFormat, why, [&] { load_language_tokenizer(folder.path()); });
    };
    const auto added = [](int64_t id, const std::string& content) {
      return fmt::format(R"({{"added_tokens_decoder": {{"{}": {{"content": "{}"}}}}}})", id, content);
    };
    refused(added(5, "<x>"), "the added token '<x>' has the id 5, which is that of the piece");
    refused(added(size, "e"), "the added token 'e' has the id");
    refused(added(999'999'999, "<x>"), "cannot have the id 999999999");
    refused(R"({"added_tokens_decoder": {"x": {"content": "<x>"}}})", "'x' in 'added_tokens_decoder' is not");
    refused(R"({"added_tokens_decoder": {"5": {"content": ""}}})", "content");
    refused(R"({"eos_token": "<x>"})",
            "has no token '<x>', which tokenizer_config.json names as \"eos_token\"");
    refused(R"({"bos_token": "<x>"})", "\"bos_token\"");
  }
  const TestFolder json;
  byte_tokenizer().save(json.path());
  for (const char* key : {"bos_token", "eos_token"}) {
    json.write("tokenizer_config.json", fmt::format(R"({{"{}": "<x>"}})", key));
    expect_error(ErrorKind::kFormat, fmt::format("names as \"{}\"", key),
                 [&] { load_language_tokenizer(json.path()); });
  }
  const TestFolder bytes;
  bytes.write("tokenizer_config.json", R"({"tokenizer_class": "HeedByteTokenizer",
                                           "added_tokens_decoder": {"256": {"content": "<x>"}}})");
  expect_error(ErrorKind::kFormat, "the added token '<x>' is not supported",
               [&] { load_language_tokenizer(bytes.path()); });
}

// Expected pieces are those of transformers 4.57 and 5.24 (LlamaTokenizerFast) for the same pieces.
TEST(AddedTokens, MayHaveNoMarkOfASpaceBehindThem) {
  const TestFolder folder;
  const int32_t size = write_model(folder, TextTokenizerKind::kSentencePiece);
  folder.write(
      "tokenizer_config.json",
      fmt::format(R"({{"legacy": false, "added_tokens_decoder": {{"{}": {{"content": "[X]"}}}}}})", size));
  const auto check = [](const ModelTokenizer& tokenizer) {
    const auto pieces_of = [&](const std::string& text) {
      std::string pieces;
      for (const int32_t id : tokenizer.ids(text, {.special_tokens = true})) {
        pieces += tokenizer.piece(id) + "|";
      }
      return pieces;
    };
    EXPECT_EQ(pieces_of("the"), "\u2581the|");
    EXPECT_EQ(pieces_of("the</s>the the"), "\u2581the|</s>|t|he|\u2581the|");
    EXPECT_EQ(pieces_of("[X]the[X] the"), "[X]|t|he|[X]|\u2581the|");
    EXPECT_EQ(pieces_of(" the"), "\u2581the|");
    EXPECT_EQ(pieces_of(" "), "\u2581|");
    EXPECT_EQ(pieces_of(""), "");
  };
  const ModelTokenizer tokenizer = load_language_tokenizer(folder.path());
  check(tokenizer);
  const TestFolder saved, json_alone;
  tokenizer.save(saved.path());
  check(load_language_tokenizer(saved.path()));
  json_alone.write("tokenizer.json", tokenizer.tokenizer_json());
  check(load_language_tokenizer(json_alone.path()));
}

TEST(AddedTokens, WithoutThatMarkAreTheSameForOtherLibraries) {
  for (const SubwordType type : {SubwordType::kUnigram, SubwordType::kBpe}) {
    SCOPED_TRACE(static_cast<int>(type));
    const TestFolder folder, json_alone;
    train_language_tokenizer(
        {.kind = TextTokenizerKind::kSentencePiece, .vocabulary_size = 400, .subwords = type},
        once(fmt::format("{}", fmt::join(artificial_lines(300), "\n"))))
        .save(folder.path());
    std::filesystem::remove(folder.path("tokenizer.json"));
    folder.write("tokenizer_config.json", R"({"legacy": false})");
    const ModelTokenizer tokenizer = load_language_tokenizer(folder.path());
    json_alone.write("tokenizer.json", tokenizer.tokenizer_json());
    const ModelTokenizer other = load_language_tokenizer(json_alone.path());
    Random random(RandomKey::from_seed(5));
    for (int n = 0; n < 300; ++n) {
      const std::string text = random_text(random, 12);
      EXPECT_EQ(tokenizer.ids(text, {.special_tokens = true}), other.ids(text, {.special_tokens = true}))
          << text;
    }
  }
}

}  // namespace
}  // namespace heed
