#include "search/rules/forbidden_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "base/text/ascii.h"
#include "search/test_seq2seq.h"
#include "search/test_tokenizer.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Vocabulary& vocabulary() {
  static const Vocabulary vocabulary({"</s>", "<unk>", "▁garden", "▁gar", "den", "er", "▁gardener", "▁Garden",
                                      "▁old", "garden", ".", "▁green.house", "<0xC3>", "<0xA4>", "▁b",
                                      "▁the▁old", "<pad>"});
  return vocabulary;
}

/// The pieces that would complete one of the phrases after these pieces.
std::vector<std::string> completing(const std::vector<std::string>& phrases,
                                    const std::vector<std::string>& before) {
  std::vector<int32_t> ids{vocabulary().pad_id()};  // the start token
  for (const std::string& piece : before) ids.push_back(vocabulary().find(piece).value());
  std::vector<std::string> found;
  for (const int32_t id : search::ForbiddenWords(vocabulary(), phrases).completing(ids)) {
    found.push_back(vocabulary().piece(id));
  }
  return found;
}

TEST(ForbiddenWords, AreFoundHoweverTheyAreWritten) {
  EXPECT_THAT(completing({"garden"}, {}), ElementsAre("▁garden", "▁Garden", "garden"));
  EXPECT_THAT(completing({"garden"}, {"▁gar"}), ElementsAre("▁garden", "den", "▁Garden"));
  EXPECT_THAT(completing({"garden"}, {"▁old"}), ElementsAre("▁garden", "▁Garden"));  // not "oldgarden"
  EXPECT_THAT(completing({"garden"}, {"."}), ElementsAre("▁garden", "▁Garden", "garden"));
  EXPECT_THAT(completing({"gardener"}, {"▁garden"}), ElementsAre("er", "▁gardener"));
  EXPECT_THAT(completing({"gardener"}, {"▁gar", "den"}), ElementsAre("er", "▁gardener"));
}

TEST(ForbiddenWords, CapitalsCountWhereTheyAreGiven) {
  EXPECT_THAT(completing({"Garden"}, {}), ElementsAre("▁Garden"));
  EXPECT_THAT(completing({"Garden"}, {"▁gar"}), ElementsAre("▁Garden"));
}

TEST(ForbiddenWords, AStarStandsForAnyLetters) {
  EXPECT_THAT(completing({"garden*"}, {}), ElementsAre("▁garden", "▁gardener", "▁Garden", "garden"));
  EXPECT_THAT(completing({"gard*"}, {"▁old"}), ElementsAre("▁garden", "▁gardener", "▁Garden"));
  EXPECT_EQ(search::ForbiddenWords(vocabulary(), {"gar*"}).found_in("Two gardens"), "gar*");
  EXPECT_EQ(search::ForbiddenWords(vocabulary(), {"arden*"}).found_in("Two gardens"), "");
  EXPECT_EQ(search::ForbiddenWords(vocabulary(), {"*"}).found_in("2 * 2"), "*");
}

TEST(ForbiddenWords, PhrasesAndPunctuation) {
  EXPECT_THAT(completing({"old  garden"}, {"▁old"}), ElementsAre("▁garden", "▁Garden"));
  EXPECT_THAT(completing({"old garden"}, {"▁gar"}), IsEmpty());
  EXPECT_THAT(completing({"green"}, {}), ElementsAre("▁green.house"));
  EXPECT_THAT(completing({"house"}, {}), ElementsAre("▁green.house"));  // within a token
  EXPECT_THAT(completing({"old"}, {}), ElementsAre("▁old", "▁the▁old"));
  EXPECT_THAT(completing({"."}, {"▁old"}), ElementsAre(".", "▁green.house"));
}

TEST(ForbiddenWords, BytesMakeLetters) {
  EXPECT_THAT(completing({"bä"}, {"▁b", "<0xC3>"}), ElementsAre("<0xA4>"));
  EXPECT_THAT(completing({"bä"}, {"▁b"}), IsEmpty());
  // A byte that belongs to no character ends a word.
  EXPECT_THAT(completing({"den"}, {"▁b", "<0xA4>"}), ElementsAre("den"));
  EXPECT_THAT(completing({"den"}, {"▁b", "<0xC3>", "<0xA4>"}), IsEmpty());
}

TEST(ForbiddenWords, FindsWholeWordsInText) {
  const search::ForbiddenWords words(vocabulary(), {"garden", "Tom"});
  EXPECT_EQ(words.found_in("The GARDEN, yes"), "garden");
  EXPECT_EQ(words.found_in("Tom's"), "Tom");
  EXPECT_EQ(words.found_in("gardens, tom"), "");
  EXPECT_EQ(search::ForbiddenWords(vocabulary(), {"猫"}).found_in("黒猫です"),
            "猫");  // no spaces between words
}

/// The processor time to look for a phrase of this many characters in a vocabulary, the least of three.
double seconds_to_forbid(size_t characters) {
  std::vector<std::string> pieces{"</s>", "<unk>", "<pad>"};
  for (int n = 0; n < 2000; ++n) pieces.push_back("x" + std::to_string(n));
  const Vocabulary many(pieces);
  const std::string phrase = std::string(characters, 'x') + " x77";
  double least = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t begin = std::clock();
    const search::ForbiddenWords words(many, {phrase});
    least = std::min(least, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
    EXPECT_THAT(words.completing({}), IsEmpty());
  }
  return least;
}

TEST(ForbiddenWords, ALongPhraseIsComparedWithShortTokensAtItsEnd) {
  // Comparing at each byte of the phrase would take 100 times as long.
  EXPECT_LT(seconds_to_forbid(100'000), 20 * std::max(seconds_to_forbid(1000), 1e-3));
}

TEST(ForbiddenWords, RefusesBlankOnes) {
  try {
    const search::ForbiddenWords words(vocabulary(), {"a", "  "});
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("blank"));
  }
}

/// Words of letters in a text, in lower case.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      words.back() += static_cast<char>(c | 0x20);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

TEST(ForbiddenWords, NoTranslationHasThem) {
  const search::TinyTransformer tiny(1, static_cast<int64_t>(search::small_tokenizer().size()));
  ThreadPool pool(2);
  const auto translate = [&](TranslatorOptions options) {
    options.search.length_penalty = 0.2;
    return Translator(tiny.model, tiny.context(), search::small_tokenizer(), pool, std::move(options))
        .translate(std::vector<std::string>(search::training_lines().begin(),
                                            search::training_lines().begin() + 12));
  };
  size_t with = 0, without = 0;
  for (const bool sample : {false, true}) {
    TranslatorOptions options;
    options.search.sample = sample;
    options.search.nbest = 4;
    const std::vector<Translation> free = translate(options);
    // Every word that any translation has, with a bound so that the others still suffice for a translation.
    for (const Translation& translation : free) {
      for (const std::string& word : words_of(translation.best().text)) {
        if (!word.empty() && options.constraints.forbidden.size() < 8)
          options.constraints.forbidden.push_back(word);
      }
    }
    ASSERT_FALSE(options.constraints.forbidden.empty());
    const search::ForbiddenWords words(search::small_tokenizer().vocabulary(), options.constraints.forbidden);
    const auto count = [&](const std::vector<Translation>& translations) {
      size_t found = 0;
      for (const Translation& translation : translations) {
        for (const Candidate& candidate : translation.candidates)
          found += words.found_in(candidate.text).empty() ? 0 : 1;
      }
      return found;
    };
    without += count(free);
    with += count(translate(options));
  }
  EXPECT_GT(without, 8U);
  EXPECT_EQ(with, 0U);
}

TEST(ForbiddenWords, WithCapitalsAreNotInTranslationsInCapitals) {
  const search::TinyTransformer tiny(1, static_cast<int64_t>(search::small_tokenizer().size()));
  ThreadPool pool(2);
  const std::vector<std::string> lines{"THE HOUSE SEES THE OLD GARDEN.", "THE RIVER LIKES THE GARDEN."};
  TranslatorOptions options;
  options.true_case = true;
  options.search.length_penalty = 0.2;
  const auto translate = [&] {
    return Translator(tiny.model, tiny.context(), search::small_tokenizer(), pool, options).translate(lines);
  };
  for (const Translation& translation : translate()) {
    for (std::string word : words_of(translation.best().text)) {
      for (char& c : word) c = ascii_upper(c);
      if (!word.empty() && options.constraints.forbidden.size() < 8)
        options.constraints.forbidden.push_back(word);
    }
  }
  ASSERT_FALSE(options.constraints.forbidden.empty());
  const search::ForbiddenWords words(search::small_tokenizer().vocabulary(), options.constraints.forbidden);
  for (const Translation& translation : translate()) {
    EXPECT_EQ(words.found_in(translation.best().text), "") << translation.best().text;
  }
}

}  // namespace
}  // namespace heed::translate
