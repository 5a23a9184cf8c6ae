#include "text/sentences/language_codes.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(LanguageCodes, TagsOfFamilies) {
  for (const char* german : {"de", "deu", "deu_Latn", "de_DE", "ger"}) {
    EXPECT_EQ(language_tag(german), "de") << german;
  }
  EXPECT_EQ(language_tag("en_XX"), "en");
  EXPECT_EQ(language_tag("ar_AR"), "ar");
  EXPECT_EQ(language_tag("sw_KE"), "sw");
  EXPECT_EQ(language_tag("quy_Latn"), "quy");
  EXPECT_EQ(language_tag("arb_Arab"), "ar");
  EXPECT_EQ(language_tag("ary_Arab"), "ary");
  EXPECT_EQ(language_tag("cmn"), "zh");
}

TEST(LanguageCodes, TagsKeepUnusualScripts) {
  EXPECT_EQ(language_tag("zho_Hans"), "zh");
  EXPECT_EQ(language_tag("zh_CN"), "zh");
  EXPECT_EQ(language_tag("zho_Hant"), "zh-Hant");
  EXPECT_EQ(language_tag("zh_TW"), "zh-Hant");
  EXPECT_EQ(language_tag("srp_Cyrl"), "sr");
  EXPECT_EQ(language_tag("sr_Latn"), "sr-Latn");
}

TEST(LanguageCodes, CodesThatNamesMean) {
  const std::vector<std::string> codes{"deu_Latn", "srp_Cyrl", "srp_Latn", "zho_Hans", "cmn_Hans"};
  for (const char* german : {"de", "deu", "de_DE", "deu_Latn"})
    EXPECT_EQ(code_of_language(codes, german), "deu_Latn");
  EXPECT_EQ(code_of_language(codes, "sr"), "srp_Cyrl");
  EXPECT_EQ(code_of_language(codes, "sr-Latn"), "srp_Latn");
  EXPECT_EQ(code_of_language(codes, "cmn_Hans"), "cmn_Hans");
  for (const char* none : {"zh", "fr", "German", ""}) EXPECT_EQ(code_of_language(codes, none), "") << none;
}

TEST(LanguageCodes, SpacingOfTheScript) {
  for (const char* none : {"zh", "zh_CN", "zho_Hant", "cmn", "cmn_Hans", "yue_Hant", "wuu", "ja", "jpn",
                           "jpn_Jpan", "ja_XX", "jpn_Hira"}) {
    EXPECT_EQ(spacing_of_language(none), Spacing::kNone) << none;
  }
  for (const char* sentences : {"th", "tha", "tha_Thai", "th_TH", "lo", "lao_Laoo", "km_KH", "khm", "my",
                                "mya_Mymr", "shn_Mymr", "bo", "dzo_Tibt"}) {
    EXPECT_EQ(spacing_of_language(sentences), Spacing::kSentences) << sentences;
  }
  for (const char* words : {"de", "eng_Latn", "ko", "kor_Hang", "ko_KR", "vi", "hin_Deva", "arb_Arab",
                            "cmn_Latn", "jpn_Latn", "", "mul", "ROMANCE", "x"}) {
    EXPECT_EQ(spacing_of_language(words), Spacing::kWords) << words;
  }
}

TEST(LanguageCodes, OtherTextsAreNoTags) {
  for (const char* text : {"", "ROMANCE", "x", "1-2", "German"}) EXPECT_EQ(language_tag(text), text);
}

}  // namespace
}  // namespace heed
