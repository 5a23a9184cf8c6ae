#include "text/sentences/language_id.h"

#include <gtest/gtest.h>

#include "text/sentences/language_codes.h"

namespace heed {
namespace {

TEST(LanguageId, ReturnsOnlyReliableResults) {
  const std::string german = "Gestern Abend sind wir mit dem Zug nach Hause gefahren.";
  EXPECT_EQ(other_language(german, "de"), "");
  EXPECT_EQ(other_language(german, "en"), "de");
  EXPECT_EQ(other_language("The weather is going to be very nice tomorrow.", "es"), "en");
  EXPECT_EQ(other_language("El perro duerme en la cocina con los gatos.", "es"), "");
  EXPECT_EQ(other_language("Hand", "en"), "");
  EXPECT_EQ(other_language("12 345, 67!", "en"), "");
  EXPECT_EQ(other_language("", "en"), "");
}

TEST(LanguageId, AcceptsBothScriptsOfChinese) {
  const std::string traditional = "我們昨天去了圖書館借了三本書。";
  const std::string simplified = "请问去火车站怎么走？我想买一张去北京的票。";
  const std::string japanese = "私は昨日図書館に行って本を三冊借りました。";
  for (const char* code : {"zh", "zho", "zh_CN"}) {
    EXPECT_EQ(other_language(traditional, code), "") << code;
    EXPECT_EQ(other_language(simplified, code), "") << code;
    EXPECT_EQ(other_language(japanese, code), "ja") << code;
    EXPECT_EQ(other_language("The weather is going to be very nice tomorrow.", code), "en") << code;
  }
  EXPECT_EQ(other_language(traditional, "zh-Hant"), "");
  EXPECT_EQ(other_language(traditional, "zho_Hant"), "");
  EXPECT_EQ(other_language(traditional, "ja"), "zh-Hant");
}

TEST(LanguageId, ComparesTagsOfCodes) {
  const std::string filipino = "Kumain ako ng almusal kaninang umaga kasama ang aking pamilya.";
  for (const char* code : {"tl", "fil", "tgl_Latn"}) EXPECT_EQ(other_language(filipino, code), "") << code;
  EXPECT_EQ(other_language(filipino, "eng_Latn"), "fil");
  EXPECT_EQ(other_language("שלום, מה שלומך היום? אני שמח לראות אותך", "de_DE"), "he");
}

TEST(LanguageId, KnowsCodes) {
  EXPECT_TRUE(is_identified_language("de"));
  EXPECT_TRUE(is_identified_language("es"));
  for (const char* code : {"fil", "tl", "deu_Latn", "zh_TW", "he"}) {
    EXPECT_TRUE(is_identified_language(code)) << code;
  }
  EXPECT_FALSE(is_identified_language("xx"));
  EXPECT_FALSE(is_identified_language(""));
}

TEST(LanguageId, DetectsLanguagesWithConfidence) {
  const auto german = detect_languages("Gestern Abend sind wir mit dem Zug nach Hause gefahren.");
  ASSERT_FALSE(german.empty());
  EXPECT_EQ(german[0].code, "de");
  EXPECT_GT(german[0].confidence, 90);
  EXPECT_TRUE(detect_languages("").empty());
  EXPECT_TRUE(detect_languages("12 345").empty());
  // A short text, with the languages that come into question.
  const auto short_text = detect_languages("Der Hund schläft.", {"de", "en"});
  ASSERT_FALSE(short_text.empty());
  EXPECT_EQ(short_text[0].code, "de");
}

constexpr const char* kHebrew = "שלום, מה שלומך היום? אני שמח לראות אותך";
constexpr const char* kNorwegian = "Jeg vil gjerne ha en kopp kaffe, takk.";
constexpr const char* kTraditional = "這是一個用繁體中文寫的句子，我們去圖書館。";
constexpr const char* kBasque = "Kaixo, zer moduz zaude gaur? Etxera noa orain.";

TEST(LanguageId, DetectsLanguagesByTheNamesOfAModel) {
  EXPECT_EQ(detect_languages(kHebrew)[0].code, "he");  // CLD2's own code is iw
  const std::vector<std::string> m2m100 = m2m100_languages("m2m100"),
                                 nllb{"eng_Latn", "heb_Hebr", "nob_Latn", "zho_Hans", "zho_Hant"};
  EXPECT_EQ(detect_languages(kHebrew, m2m100)[0].code, "he");
  EXPECT_EQ(detect_languages(kHebrew, nllb)[0].code, "heb_Hebr");
  EXPECT_EQ(detect_languages(kNorwegian, m2m100)[0].code, "no");
  EXPECT_EQ(detect_languages(kNorwegian, nllb)[0].code, "nob_Latn");
  EXPECT_EQ(detect_languages(kTraditional, m2m100)[0].code, "zh");  // which has one Chinese
  EXPECT_EQ(detect_languages(kTraditional, nllb)[0].code, "zho_Hant");
  EXPECT_EQ(detect_languages(kTraditional, {"zh", "zh-Hant"})[0].code, "zh-Hant");
  EXPECT_EQ(detect_languages(kBasque, m2m100)[0].code, "eu");  // no guess among a hundred others
}

TEST(LanguageId, NamesLanguages) {
  EXPECT_EQ(language_name("de"), "German");
  EXPECT_EQ(language_name("es"), "Spanish");
  EXPECT_EQ(language_name("xx"), "xx");
  EXPECT_EQ(language_name("zh-Hant"), "Chinese (Traditional)");
}

}  // namespace
}  // namespace heed
