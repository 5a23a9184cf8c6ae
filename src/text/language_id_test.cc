#include "text/language_id.h"

#include <gtest/gtest.h>

namespace heed {
namespace {

TEST(LanguageId, SaysOnlyWhatIsSure) {
  const std::string german = "Gestern Abend sind wir mit dem Zug nach Hause gefahren.";
  EXPECT_EQ(other_language(german, "de"), "");
  EXPECT_EQ(other_language(german, "en"), "de");
  EXPECT_EQ(other_language("The weather is going to be very nice tomorrow.", "es"), "en");
  EXPECT_EQ(other_language("El perro duerme en la cocina con los gatos.", "es"), "");
  EXPECT_EQ(other_language("Hand", "en"), "");
  EXPECT_EQ(other_language("12 345, 67!", "en"), "");
  EXPECT_EQ(other_language("", "en"), "");
}

TEST(LanguageId, KnowsCodes) {
  EXPECT_TRUE(is_identified_language("de"));
  EXPECT_TRUE(is_identified_language("es"));
  EXPECT_FALSE(is_identified_language("xx"));
  EXPECT_FALSE(is_identified_language(""));
}

}  // namespace
}  // namespace heed
