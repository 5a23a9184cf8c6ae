#include "data/augment/name_inventor.h"

#include <gtest/gtest.h>

#include <set>

#include "text/unicode/utf8.h"
#include "text/unicode/whitespace.h"

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

TEST(SharedNumbers, EachOnceInTheOrderOfTheSource) {
  EXPECT_EQ(shared_numbers("12 30 12 45 30", "45 99 12 12 30"), (Names{"12", "30", "45"}));
}

/// One that compared all words with all others took minutes.
TEST(SharedNumbers, TakeLinearTime) {
  std::string line;
  for (int n = 100'000; n < 400'000; ++n) line += std::to_string(n) + ' ';
  EXPECT_EQ(shared_numbers(line, line).size(), 300'000u);
}

TEST(ReplaceWord, WholeWordsOnly) {
  EXPECT_EQ(replace_word("Tom, Tommy and Tom's", "Tom", "Ann Lee"), "Ann Lee, Tommy and Ann Lee's");
  EXPECT_EQ(replace_word("im Jahr 1989.", "1989", "2001"), "im Jahr 2001.");
  EXPECT_EQ(replace_word("nothing", "Tom", "x"), "nothing");
}

TEST(NameInventor, InventsSimilarNames) {
  NameInventor inventor;
  const Names known{"Maria", "Martin", "Marco", "Anna", "Andreas", "Jörg", "Boston", "Berlin"};
  for (const std::string& name : known) inventor.learn(name);
  Random random(RandomKey::from_seed(1));
  std::set<std::string> invented;
  int addresses = 0, others = 0;
  for (int n = 0; n < 1000; ++n) {
    const std::string name = inventor.invent(random);
    EXPECT_FALSE(find_invalid_utf8(name));
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(std::count(known.begin(), known.end(), name), 0) << name;
    if (name.find('.') != std::string::npos) {
      ++addresses;
    } else if (std::string("MABJ").find(name[0]) == std::string::npos) {
      ++others;  // of another script
    } else {
      invented.insert(name);
      for (const std::string_view word : split_whitespace(name)) {
        EXPECT_GE(utf8_to_utf32(word).size(), 3u);
        EXPECT_LE(utf8_to_utf32(word).size(), 14u);
      }
    }
  }
  // Of 1000, one in 24 (42, standard deviation 6.3), and two in 24 (83, 8.7).
  EXPECT_NEAR(addresses, 42, 5 * 6.3);
  EXPECT_NEAR(others, 83, 5 * 8.7);
  EXPECT_GT(invented.size(), 400u);
}

// Golden addresses, drawn by a build with GCC: the random numbers must not be drawn in an order that is up to
// the compiler.
TEST(NameInventor, DrawsTheSameAddressesWithEveryCompiler) {
  NameInventor inventor;
  for (const char* name : {"Maria", "Martin", "Marco", "Anna", "Andreas", "Boston", "Berlin"}) {
    inventor.learn(name);
  }
  Random random(RandomKey::from_seed(7));
  Names addresses;
  while (addresses.size() < 8) {
    std::string name = inventor.invent(random);
    if (name.find('.') != std::string::npos) addresses.push_back(std::move(name));
  }
  EXPECT_EQ(addresses, (Names{"http://mrtin.de/maston", "http://mas.de/bos", "modireas@andrenrrias.es",
                              "http://bertin.es/andrerlin", "marearco.mareas@annna.es", "www.marlin.info",
                              "http://anndreas.org/berlndreas", "bostoseiton.martia@annarco.de"}));
}

}  // namespace
}  // namespace heed
