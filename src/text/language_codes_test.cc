#include "text/language_codes.h"

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

TEST(LanguageCodes, OtherTextsAreNoTags) {
  for (const char* text : {"", "ROMANCE", "x", "1-2", "German"}) EXPECT_EQ(language_tag(text), text);
}

}  // namespace
}  // namespace heed
