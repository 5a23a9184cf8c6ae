#include "text/sentences/sentence_splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "heed/error.h"
#include "text/tokenizers/test_text.h"

namespace heed {
namespace {

using testing::ElementsAre;

TEST(SentenceSplitter, SplitsAndKeepsSeparators) {
  const SentenceSplitter splitter("en");
  const SplitText split = splitter.split("  One is short. Is two?\n\n“Three!” he said.  ");
  EXPECT_THAT(split.sentences, ElementsAre("One is short.", "Is two?", "“Three!” he said."));
  EXPECT_THAT(split.separators, ElementsAre("  ", " ", "\n\n", "  "));
  EXPECT_THAT(splitter.split("").separators, ElementsAre(""));
  EXPECT_THAT(splitter.split(" \n ").separators, ElementsAre(" \n "));
  EXPECT_TRUE(splitter.split(" \n ").sentences.empty());
}

TEST(SentenceSplitter, KnowsAbbreviationsOfTheLanguage) {
  const SentenceSplitter english("en"), german("de");
  EXPECT_THAT(english.split("Mr. Bay came (with Dr. Huber). He left.").sentences,
              ElementsAre("Mr. Bay came (with Dr. Huber).", "He left."));
  EXPECT_THAT(
      german.split("Das gilt z. B. Für große Häuser. Ja. Dr. Huber kam am 3. Mai 2019. Es regnete.")
          .sentences,
      ElementsAre("Das gilt z. B. Für große Häuser.", "Ja.", "Dr. Huber kam am 3. Mai 2019.", "Es regnete."));
  EXPECT_THAT(SentenceSplitter("es").split("Es el 15 ene. 2024. El lun. 5 no.").sentences,
              ElementsAre("Es el 15 ene. 2024.", "El lun. 5 no."));
  EXPECT_THAT(english.split("Come on Fri. 5 May. It is Fri. He comes.").sentences,
              ElementsAre("Come on Fri. 5 May.", "It is Fri.", "He comes."));
  EXPECT_THAT(english.split("The U.S. Army and J. Smith came.").sentences, testing::SizeIs(1));
  EXPECT_THAT(german.split("Herr Dr. med. Müller lief 100 m. Danach war er bei der Fa. Huber.").sentences,
              ElementsAre("Herr Dr. med. Müller lief 100 m.", "Danach war er bei der Fa. Huber."));
  // The negative controls: without that abbreviation, without such ordinals, a boundary stays.
  EXPECT_THAT(german.split("Es kostet 3 Mio. Euro.").sentences, ElementsAre("Es kostet 3 Mio. Euro."));
  EXPECT_THAT(english.split("Es kostet 3 Mio. Euro.").sentences, ElementsAre("Es kostet 3 Mio.", "Euro."));
  EXPECT_THAT(english.split("We saw 3. Then 4.").sentences, ElementsAre("We saw 3.", "Then 4."));
}

TEST(SentenceSplitter, LineBreaksAlwaysSplit) {
  EXPECT_THAT(SentenceSplitter("en").split("Made by J.\nSmith and sons\nin lower case").sentences,
              ElementsAre("Made by J.", "Smith and sons", "in lower case"));
}

TEST(SentenceSplitter, OtherScripts) {
  EXPECT_THAT(SentenceSplitter("zh").split("我喜欢吃苹果。今天天气很好！").sentences,
              ElementsAre("我喜欢吃苹果。", "今天天气很好！"));
  EXPECT_THAT(SentenceSplitter("ru").split("Привет 😀. Как дела?").sentences,
              ElementsAre("Привет 😀.", "Как дела?"));
}

TEST(SentenceSplitter, JoinsToTheOriginal) {
  Random random(RandomKey::from_seed(4));
  for (const char* language : {"en", "de", "ja", "xx"}) {
    const SentenceSplitter splitter(language);
    for (int n = 0; n < 200; ++n) {
      std::string text = random_text(random, 15);
      for (const std::string& line : artificial_lines(3, random.next()))
        text += line + (random.below(2) ? " " : "\n");
      const SplitText split = splitter.split(text);
      ASSERT_EQ(split.separators.size(), split.sentences.size() + 1);
      std::string joined = split.separators[0];
      for (size_t i = 0; i < split.sentences.size(); ++i)
        joined += split.sentences[i] + split.separators[i + 1];
      EXPECT_EQ(joined, text);
    }
  }
}

TEST(SentenceSplitter, LongSentencesTakeLinearTime) {
  const auto seconds = [](char begin, const std::string& unit, int count) {
    std::string text(static_cast<size_t>(count), begin);
    for (int n = 0; n < count; ++n) text += unit;
    const SentenceSplitter splitter("de");
    const std::clock_t start = std::clock();
    EXPECT_GE(splitter.split(text).sentences.size(), 1U);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  for (const auto& [begin, unit] :
       std::vector<std::pair<char, std::string>>{{'x', "@!"}, {'(', "Ja!) "}, {'1', " z. B."}}) {
    // Four times the work; quadratic time would be sixteen times as long.
    const double few = seconds(begin, unit, 15'000), many = seconds(begin, unit, 60'000);
    EXPECT_LT(many, 9 * std::max(few, 1e-2)) << unit;
  }
}

TEST(SentenceSplitter, RefusesInvalidLanguagesAndText) {
  EXPECT_THROW(SentenceSplitter("not a language!"), Error);
  EXPECT_THROW(SentenceSplitter(""), Error);
  EXPECT_THROW(SentenceSplitter("en").split("a\xFF"), Error);
}

}  // namespace
}  // namespace heed
