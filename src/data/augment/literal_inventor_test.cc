#include "data/augment/literal_inventor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "text/unicode/utf8.h"

namespace heed {
namespace {

TEST(LiteralInventor, InventsManyKinds) {
  LiteralInventor inventor;
  Random random(RandomKey::from_seed(1));
  for (const char* text : {"the garden of houses", "ein kleiner Hund", "Ñandú?"})
    inventor.learn(text, random);
  const std::vector<std::string> kinds{"https?://.*",
                                       "[a-z0-9._-]+@[a-z0-9-]+\\.[a-z.]+",
                                       "@[a-z]+[0-9]*",
                                       "#[A-Za-z]+",
                                       "v?[0-9]+(\\.[0-9]+)+.*",
                                       "[0-9]{4}-[0-9]{2}-[0-9]{2}.*",
                                       "\\+[0-9]+.*",
                                       ".*\\.(pdf|txt|docx|json)",
                                       "0x[0-9a-f]+",
                                       "\\{[a-z]+\\}"};
  std::vector<int> found(kinds.size());
  std::set<std::string> all;
  int learnt = 0;
  for (int n = 0; n < 2000; ++n) {
    const std::string text = inventor.invent(random);
    ASSERT_FALSE(text.empty());
    all.insert(text);
    for (size_t kind = 0; kind < kinds.size(); ++kind)
      found[kind] += testing::Value(text, testing::MatchesRegex(kinds[kind])) ? 1 : 0;
    learnt += text.find("garden") != std::string::npos || text.find("kleiner") != std::string::npos ? 1 : 0;
  }
  for (size_t kind = 0; kind < kinds.size(); ++kind) EXPECT_GT(found[kind], 5) << kind;
  EXPECT_GT(all.size(), 1800u);
  EXPECT_GT(learnt, 100);
}

TEST(LiteralInventor, InventsEmojis) {
  Random random(RandomKey::from_seed(1));
  std::set<std::string> all;
  for (int n = 0; n < 500; ++n) {
    const std::string text = invent_emoji(random);
    const std::u32string characters = utf8_to_utf32(text);
    EXPECT_GE(characters.size(), 1u);
    EXPECT_LE(characters.size(), 3u);
    for (const char32_t c : characters) EXPECT_GE(c, 0x2600u);
    all.insert(text);
  }
  EXPECT_GT(all.size(), 200u);
}

}  // namespace
}  // namespace heed
