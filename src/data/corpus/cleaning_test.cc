#include "data/corpus/cleaning.h"

#include <gtest/gtest.h>

#include "data/corpus/pairs_mix.h"
#include "test_folder.h"

namespace heed {
namespace {

std::optional<Fault> fault_of(const CleaningOptions& options, const std::string& source,
                              const std::string& target) {
  return Cleaner(options, {}).fault(source, target);
}

TEST(Cleaning, RemovesNothingByDefault) {
  EXPECT_FALSE(CleaningOptions().any());
  EXPECT_EQ(fault_of({}, "x", std::string(1000, 'y')), std::nullopt);
  EXPECT_EQ(fault_of({}, "schÃ¶n \x01", "schÃ¶n \x01"), std::nullopt);
}

TEST(Cleaning, ComparesLengthsInCharacters) {
  const CleaningOptions options{.max_length_ratio = 2};
  EXPECT_EQ(fault_of(options, "ja", std::string(30, 'y')), std::nullopt);  // short sides count as 15
  EXPECT_EQ(fault_of(options, "ja", std::string(31, 'y')), Fault::kRatio);
  EXPECT_EQ(fault_of(options, std::string(40, 'x'), std::string(81, 'y')), Fault::kRatio);
  std::string umlauts;
  for (int n = 0; n < 40; ++n) umlauts += "ä";
  EXPECT_EQ(fault_of(options, umlauts, std::string(20, 'y')), std::nullopt);  // 80 bytes
}

TEST(Cleaning, RemovesLongAndIdenticalPairs) {
  EXPECT_EQ(fault_of({.max_words = 2}, "a b c", "d"), Fault::kLength);
  EXPECT_EQ(fault_of({.max_words = 3}, "a b  c ", "d"), std::nullopt);
  EXPECT_EQ(fault_of({.max_characters = 3}, "d", "äöü"), std::nullopt);
  EXPECT_EQ(fault_of({.max_characters = 3}, "d", "äöü!"), Fault::kLength);
  EXPECT_EQ(fault_of({.max_identical_words = 1}, "New York", "New York"), Fault::kIdentical);
  EXPECT_EQ(fault_of({.max_identical_words = 2}, "New York", "New York"), std::nullopt);
  EXPECT_EQ(fault_of({.max_identical_words = 0}, "Tom", "Tom "), Fault::kIdentical);
}

TEST(Cleaning, RemovesBrokenEncodings) {
  for (const char* text : {"schÃ¶n", "itâ€™s", "50 Â€", "a\x01", "a\u0085", "?\ufffd", "espaÃ±ol"}) {
    EXPECT_TRUE(is_badly_encoded(text)) << text;
  }
  for (const char* text :
       {"schön", "it’s", "50 €", "Âncora e pão, PÃO", "À l’âge d’été", "a\tb", "„Ô“ – «É»", "家", ""}) {
    EXPECT_FALSE(is_badly_encoded(text)) << text;
  }
}

TEST(Cleaning, KeepsCapitalsBeforeClosingMarks) {
  for (const char* text : {"“ATÉ AMANHÃ”", "ĐÃ…", "‘ATÉ AMANHÃ’, disse ela", "«AMANHÃ»", "AMANHÃ– não hoje",
                           "AMANHÃ—", "ĐÃ\u00a0NÓI"}) {
    EXPECT_FALSE(is_badly_encoded(text)) << text;
  }
  // Ô, Å, à, Ö, É, Ü and × within words, behind small letters or alone; marks that are two bytes themselves.
  for (const char* text :
       {"CÃ”TE", "MÃ…NE", "Ã… dra", "déjÃ\u00a0", "Ã\u00a0 la", "PÃ\u00a0gina", "SÃ–DERTÃ„LJE", "CAFÃ‰",
        "Ãœber", "habÃ»", "“TEXTÂ”", "«TEXTÂ»", "USAÂ\u00a0", "DOGSÂ’"}) {
    EXPECT_TRUE(is_badly_encoded(text)) << text;
  }
}

TEST(Cleaning, RemovesOtherLanguages) {
  const CleaningOptions options{
      .drop_other_languages = true, .source_language = "de", .target_language = "en"};
  const std::string german = "Gestern Abend sind wir mit dem Zug nach Hause gefahren.";
  const std::string english = "Last night we went home by train with our friends.";
  EXPECT_EQ(fault_of(options, german, english), std::nullopt);
  EXPECT_EQ(fault_of(options, german, german), Fault::kLanguage);
  EXPECT_EQ(fault_of(options, english, german), Fault::kLanguage);
  const CleaningOptions chinese{
      .drop_other_languages = true, .source_language = "en", .target_language = "zh"};
  EXPECT_EQ(fault_of(chinese, english, "我們昨天去了圖書館借了三本書。"), std::nullopt);
  EXPECT_EQ(fault_of(chinese, english, english), Fault::kLanguage);
  expect_error(ErrorKind::kUsage, "languages",
               [&] { fault_of({.drop_other_languages = true}, german, english); });
  expect_error(ErrorKind::kUsage, "'xx'", [&] {
    fault_of({.drop_other_languages = true, .source_language = "xx", .target_language = "en"}, german,
             english);
  });
}

TEST(Cleaning, RemovesHeldOutSentences) {
  const TestFolder folder;
  const std::string pairs = folder.write("test.tsv", "Wo ist Tom?\tWhere is Tom?\tCC BY\nJa.\tYes.\n");
  const std::string lines = folder.write("test.txt", "El perro duerme.\n");
  const CleaningOptions options{.held_out = {pairs, lines}};
  EXPECT_EQ(fault_of(options, "WO IST TOM", "Wherever"), Fault::kHeldOut);
  EXPECT_EQ(fault_of(options, "x", "where is Tom …"), Fault::kHeldOut);
  EXPECT_EQ(fault_of(options, "¡El perro duerme!", "x"), Fault::kHeldOut);
  EXPECT_EQ(fault_of(options, "Ja.", "Yes."), std::nullopt);  // single words are everybody's
  EXPECT_EQ(fault_of(options, "CC BY", "x y"), std::nullopt);
  EXPECT_EQ(fault_of(options, "Wo ist Tom jetzt?", "Where is Tom now?"), std::nullopt);
  expect_error(ErrorKind::kNotFound, "none.tsv",
               [&] { fault_of({.held_out = {folder.path("none.tsv")}}, "a", "b"); });
}

TEST(Cleaning, RemovesHeldOutSentencesWithoutSpaces) {
  const TestFolder folder;
  const std::string lines = folder.write(
      "test.txt", "我昨天去了图书馆。\n昨日、図書館に行きました。\nฉันกินข้าวแล้ว\n家。\nमैं घर गया\n");
  const CleaningOptions options{.held_out = {lines}};
  for (const char* text : {"我昨天去了图书馆", "「我昨天 去了图书馆！」", "昨日図書館に行きました",
                           "ฉันกินข้าวแล้ว ", "मैं घर गया।"}) {
    EXPECT_EQ(fault_of(options, text, "x"), Fault::kHeldOut) << text;
    EXPECT_EQ(fault_of(options, "x", text), Fault::kHeldOut) << text;
  }
  // Another letter or vowel sign; one letter, as one word.
  for (const char* text : {"我今天去了图书馆。", "昨日図書館に行きます", "ฉันกันข้าวแล้ว", "家", "मैं घर गयी"}) {
    EXPECT_EQ(fault_of(options, text, "x"), std::nullopt) << text;
  }
}

TEST(Cleaning, RemovesDuplicatesWithinAndAcrossCorpora) {
  const TestFolder folder;
  const PairsInput one{.pairs = folder.write("one.tsv", "a\tA\nb\tB\na\tA\na\tX\n")};
  const PairsInput two{.pairs = folder.write("two.tsv", "B\tb\nC\tc\n"), .swap = true};
  PairsMixOptions options;
  options.cleaning.drop_duplicates = true;
  const PairsMix mix({{one, 2}, {two}}, options);
  std::string text;
  PairsMixReader reader(mix);
  for (Pair pair; reader.next(pair);) text += std::string(pair.source) += pair.target;
  EXPECT_EQ(text, "aAaAbBbBaXaXcC");
  EXPECT_EQ(mix.counts()[0].removed[static_cast<size_t>(Fault::kDuplicate)], 1u);
  EXPECT_EQ(fault_counts_text(mix.counts()[1].removed), "1 duplicates");
  EXPECT_EQ(mix.counts()[1].given, 1u);
}

TEST(Cleaning, HeldOutTextIsPartOfTheFingerprint) {
  const TestFolder folder;
  const PairsInput input{.pairs = folder.write("p.tsv", "a b\tA B\nc d\tC D\n")};
  const auto fingerprint = [&](const std::string& held_out) {
    PairsMixOptions options;
    options.cleaning.held_out = {folder.write("test.txt", held_out)};
    const PairsMix mix({{input}}, options);
    PairsMixReader reader(mix);
    for (Pair pair; reader.next(pair);) {
    }
    EXPECT_EQ(reader.fingerprint(), mix.fingerprint());
    return mix.fingerprint();
  };
  EXPECT_NE(fingerprint("a b\n"), fingerprint("c d\n"));
  EXPECT_NE(fingerprint("a b\n"), identify_pairs(input).fingerprint);
}

}  // namespace
}  // namespace heed
