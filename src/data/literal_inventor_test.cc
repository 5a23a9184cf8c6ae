#include "data/literal_inventor.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "text/utf8.h"

namespace heed {
namespace {

TEST(LiteralInventor, InventsManyKinds) {
  LiteralInventor inventor;
  Random random(RandomKey::from_seed(1));
  for (const char* text : {"the garden of houses", "ein kleiner Hund", "Ñandú?"})
    inventor.learn(text, random);
  const std::vector<std::regex> kinds{
      std::regex("https?://.*"),        std::regex("[a-z0-9._-]+@[a-z0-9-]+\\.[a-z.]+"),
      std::regex("@[a-z]+\\d*"),        std::regex("#[A-Za-z]+"),
      std::regex("v?\\d+(\\.\\d+)+.*"), std::regex("\\d{4}-\\d\\d-\\d\\d.*"),
      std::regex("\\+\\d+.*"),          std::regex(".*\\.(pdf|txt|docx|json)"),
      std::regex("0x[0-9a-f]+"),        std::regex("\\{[a-z]+\\}")};
  std::vector<int> found(kinds.size());
  std::set<std::string> all;
  int learnt = 0;
  for (int n = 0; n < 2000; ++n) {
    const std::string text = inventor.invent(random);
    ASSERT_FALSE(text.empty());
    all.insert(text);
    for (size_t kind = 0; kind < kinds.size(); ++kind)
      found[kind] += std::regex_match(text, kinds[kind]) ? 1 : 0;
    learnt += text.find("garden") != std::string::npos || text.find("kleiner") != std::string::npos ? 1 : 0;
  }
  for (size_t kind = 0; kind < kinds.size(); ++kind) EXPECT_GT(found[kind], 5) << kind;
  EXPECT_GT(all.size(), 1800u);
  EXPECT_GT(learnt, 100);
}

TEST(LiteralInventor, EmojisAreSuch) {
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
