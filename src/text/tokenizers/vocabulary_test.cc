#include "text/tokenizers/vocabulary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "heed/error.h"
#include "text/test_cases.h"

namespace heed {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& json) {
  try {
    Vocabulary::from_json(json, "vocab.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    EXPECT_THAT(error.what(), HasSubstr("vocab.json"));
    return error.what();
  }
  return "";
}

TEST(Vocabulary, FindsPiecesAndIds) {
  const Vocabulary vocabulary =
      Vocabulary::from_json(R"({"<pad>": 3, "</s>": 0, "\u2581the": 2, "<unk>": 1})", "vocab.json");
  EXPECT_EQ(vocabulary.size(), 4u);
  EXPECT_EQ(vocabulary.end_id(), 0);
  EXPECT_EQ(vocabulary.unknown_id(), 1);
  EXPECT_EQ(vocabulary.pad_id(), 3);
  EXPECT_EQ(vocabulary.id("▁the"), 2);
  EXPECT_EQ(vocabulary.id("the"), 1);
  EXPECT_EQ(vocabulary.find("the"), std::nullopt);
  EXPECT_EQ(vocabulary.piece(2), "▁the");
  EXPECT_TRUE(vocabulary.is_special(3));
  EXPECT_FALSE(vocabulary.is_special(2));
  EXPECT_THROW(vocabulary.piece(4), Error);
  EXPECT_THROW(vocabulary.piece(-1), Error);
}

TEST(Vocabulary, RoundTrip) {
  const Vocabulary vocabulary({"</s>", "<unk>", "▁größe", "\"\\\n", "😀", "<pad>"});
  const std::string json = vocabulary.to_json();
  EXPECT_THAT(
      json, testing::StartsWith("{\n  \"</s>\": 0,\n  \"<unk>\": 1,\n  \"\\u2581gr\\u00f6\\u00dfe\": 2,\n"));
  const Vocabulary again = Vocabulary::from_json(json, "again");
  ASSERT_EQ(again.size(), vocabulary.size());
  for (int32_t id = 0; id < 6; ++id) EXPECT_EQ(again.piece(id), vocabulary.piece(id));
  EXPECT_EQ(again.to_json(), json);
}

TEST(Vocabulary, OtherSpellingsOfTheSpecialPieces) {
  const Vocabulary vocabulary({"a", "EOS", "UNK", "PAD"}, {.end = "EOS", .unknown = "UNK", .pad = "PAD"});
  EXPECT_EQ(vocabulary.end_id(), 1);
  EXPECT_EQ(vocabulary.id("b"), 2);
}

TEST(Vocabulary, ReadStrictly) {
  EXPECT_EQ(error_of(R"({"</s>": 0, "<unk>": 1, "<pad>": 2})"), "");
  EXPECT_THAT(error_of(R"({"</s>": 0, "<unk>": 1, "<pad>": 3})"), HasSubstr("cannot have the id 3"));
  EXPECT_THAT(error_of(R"({"</s>": 0, "<unk>": 1, "<pad>": 1})"), HasSubstr("same id 1"));
  EXPECT_THAT(error_of(R"({"</s>": 0, "<unk>": 1, "</s>": 2})"), HasSubstr("is duplicated"));
  EXPECT_THAT(error_of(R"({"</s>": 0, "<unk>": 1})"), HasSubstr("no piece \"<pad>\""));
  EXPECT_THAT(error_of(R"({"</s>": -1})"), HasSubstr("not a non-negative integer"));
  EXPECT_THAT(error_of(R"({"</s>": 0.0})"), HasSubstr("not a non-negative integer"));
  EXPECT_THAT(error_of(R"({"</s>": "0"})"), HasSubstr("not a non-negative integer"));
  EXPECT_THAT(error_of(R"({"</s>": [0]})"), HasSubstr("not a non-negative integer"));
  EXPECT_THAT(error_of(R"({"</s>": {"a": 0}})"), HasSubstr("is an object"));
  EXPECT_THAT(error_of(R"(["</s>"])"), HasSubstr("begin"));
  EXPECT_THAT(error_of("0"), HasSubstr("begin"));
  EXPECT_THAT(error_of(R"({"</s>": 0} x)"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(R"({"</s>": 0)"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("{\"\xFF\": 0}"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("{}"), HasSubstr("no piece"));
}

TEST(Vocabulary, AByteOrderMarkChangesNothing) {
  for (const char* json :
       {R"({"</s>":0,"<unk>":1,"<pad>":2})",
        " \r\n{\t\"\\u2581a\" : 3 ,\n\"</s>\": 0, \"<unk>\": 1, \"<pad>\": 2 } \n",
        R"({"\ud83d\ude00😀": 10, "\"\\\/": 9, "\u00e9é": 8, "\n\t\b\u0001": 7, "\uD7FF\uE000\uffff": 6, "": 5,
            "\u0000": 4, "</s>": 0, "<unk>": 1, "<pad>": 2, " ": 3})",
        R"({"\ud83d": 0})",
        R"({"\ude00\ud83d": 0})",
        R"({"\ud83d\u0041": 0})",
        R"({"\u12": 0})",
        R"({"\u12g4": 0})",
        R"({"\u+123": 0})",
        R"({"\x": 0})",
        R"({"a\)",
        R"({"a)",
        R"({"a" 0})",
        R"({"a": 00})",
        R"({"a": 01})",
        R"({"a": +1})",
        R"({"a": 1e0})",
        R"({"a": 18446744073709551616})",
        R"({"a": 0,})",
        R"({"a": 0}})",
        R"({a: 0})",
        R"({,})",
        R"({"a": 0 "b": 1})",
        "{\"a\nb\": 0}"}) {
    const std::string text = json, marked = "\xEF\xBB\xBF" + text;
    const auto fault_of = [](const std::string& each) {
      const std::string error = error_of(each);
      return error.substr(0, error.find(" at byte"));
    };
    EXPECT_EQ(fault_of(text), fault_of(marked)) << text;
    if (!fault_of(text).empty()) continue;
    EXPECT_EQ(Vocabulary::from_json(text, "plain").pieces(),
              Vocabulary::from_json(marked, "marked").pieces());
  }
}

TEST(Vocabulary, OfTheFixtures) {
  const auto path = fixtures_folder() / "marian" / "model" / "vocab.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no fixtures in " << fixtures_folder();
  const auto expected = read_json(path).get<std::map<std::string, int32_t>>();
  const Vocabulary vocabulary = Vocabulary::load(path.string());
  ASSERT_EQ(vocabulary.size(), expected.size());
  for (const auto& [piece, id] : expected) EXPECT_EQ(vocabulary.find(piece), id);
}

}  // namespace
}  // namespace heed
