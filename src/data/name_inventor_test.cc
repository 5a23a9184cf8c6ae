#include "data/name_inventor.h"

#include <gtest/gtest.h>

#include <set>

#include "text/utf8.h"

namespace heed {
namespace {

using Names = std::vector<std::string>;

TEST(SharedNames, AreCapitalisedWordsOfBothSides) {
  EXPECT_EQ(shared_names("Tom sah Maria und Tom.", "Tom saw Mary."), Names{"Tom"});
  EXPECT_EQ(shared_names("Ist Boston größer als Tom?", "Is Boston bigger than Tom?"),
            (Names{"Boston", "Tom"}));
  EXPECT_EQ(shared_names("Éva's Auto, Jörg!", "Éva and Jörg"), (Names{"Éva", "Jörg"}));
  EXPECT_EQ(shared_names("die USA, BBC, Al, tom, McDonald", "the USA, BBC, Al, tom, McDonald"), Names{});
  EXPECT_EQ(shared_names("Tommy", "Tom"), Names{});
}

TEST(SharedNumbers, HaveTwoDigitsOrMore) {
  EXPECT_EQ(shared_numbers("Um 10:30 am 3. 1989", "At 10:30 on 3 1989, 42"), (Names{"10", "30", "1989"}));
}

TEST(ReplaceWord, WholeWordsOnly) {
  EXPECT_EQ(replace_word("Tom, Tommy and Tom's", "Tom", "Ann Lee"), "Ann Lee, Tommy and Ann Lee's");
  EXPECT_EQ(replace_word("im Jahr 1989.", "1989", "2001"), "im Jahr 2001.");
  EXPECT_EQ(replace_word("nothing", "Tom", "x"), "nothing");
}

TEST(NameInventor, InventsOthersThatLookAlike) {
  NameInventor inventor;
  const Names known{"Maria", "Martin", "Marco", "Anna", "Andreas", "Jörg", "Boston", "Berlin"};
  for (const std::string& name : known) inventor.learn(name);
  Random random(RandomKey::from_seed(1));
  std::set<std::string> invented;
  for (int n = 0; n < 500; ++n) {
    const std::string name = inventor.invent(random);
    invented.insert(name);
    EXPECT_FALSE(find_invalid_utf8(name));
    EXPECT_NE(std::string("MABJ").find(name[0]), std::string::npos) << name;
    EXPECT_EQ(std::count(known.begin(), known.end(), name), 0) << name;
    for (size_t begin = 0; begin < name.size();) {
      const size_t end = std::min(name.find(' ', begin), name.size());
      const size_t letters = utf8_to_utf32(name.substr(begin, end - begin)).size();
      EXPECT_GE(letters, 3u);
      EXPECT_LE(letters, 14u);
      begin = end + 1;
    }
  }
  EXPECT_GT(invented.size(), 300u);
  Random same(RandomKey::from_seed(1));
  EXPECT_TRUE(invented.contains(inventor.invent(same)));
}

}  // namespace
}  // namespace heed
