// What the bundled models must be able to do besides translating what they were trained on: names that they
// have never met go through, and odd lines give something sane.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "heed/translator.h"
#include "paths.h"

namespace heed {
namespace {

constexpr const char* kName = "NAME";

/// A model and simple sentences about somebody.
struct Language {
  const char* model;
  std::array<const char*, 10> sentences;
};

std::ostream& operator<<(std::ostream& out, const Language& language) {
  return out << language.model;
}

const Language kGerman{"models/de-en",
                       {"NAME ist mein Freund.", "Ich habe NAME gestern gesehen.", "Wo wohnt NAME?",
                        "NAME spricht sehr gut Deutsch.", "Kennst du NAME?", "Das Buch gehört NAME.",
                        "NAME hat heute keine Zeit.", "Ich möchte mit NAME sprechen.",
                        "Gestern hat NAME mir geholfen.", "Das ist das Haus von NAME."}};
const Language kEnglish{
    "models/en-es",
    {"NAME is my friend.", "I saw NAME yesterday.", "Where does NAME live?", "NAME speaks English very well.",
     "Do you know NAME?", "This book belongs to NAME.", "NAME has no time today.", "I want to talk to NAME.",
     "NAME helped me yesterday.", "This is the house of NAME."}};

std::vector<std::string> read_names() {
  std::ifstream file(source_folder() + "/tests/data/unseen_names.txt");
  std::vector<std::string> names;
  for (std::string name; std::getline(file, name);) names.push_back(name);
  return names;
}

/// Whether a text holds a word, whole.
bool holds_word(const std::string& text, const std::string& word) {
  const auto is_letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || (c & 0x80) != 0;
  };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]))) return true;
  }
  return false;
}

class BundledModel : public testing::TestWithParam<Language> {
 protected:
  /// Sentence n of the ten, about somebody.
  static std::string about(const std::string& name, size_t n) {
    std::string line = GetParam().sentences[n % GetParam().sentences.size()];
    return line.replace(line.find(kName), std::string(kName).size(), name);
  }
  static Translator open() { return Translator(source_folder() + "/" + GetParam().model); }
};

TEST_P(BundledModel, LetsNamesThatItHasNeverMetGoThrough) {
  const std::vector<std::string> names = read_names();
  ASSERT_EQ(names.size(), 100u);
  std::vector<std::string> lines;
  for (size_t n = 0; n < names.size(); ++n) lines.push_back(about(names[n], n));
  const std::vector<std::string> translations = open().translate(lines);
  int unchanged = 0;
  std::string changed;
  for (size_t n = 0; n < names.size(); ++n) {
    if (holds_word(translations[n], names[n])) {
      ++unchanged;
    } else {
      changed += lines[n] + " -> " + translations[n] + "\n";
    }
  }
  EXPECT_GE(unchanged, 90) << changed;
  RecordProperty("unchanged", unchanged);
  EXPECT_FALSE(holds_word("Die Wronas sind da.", "Wrona"));  // a part of a word is not the name
}

/// How often the most frequent run of four words occurs.
int most_repeated(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  std::map<std::string, int> counts;
  int most = 0;
  for (size_t n = 0; n + 4 <= words.size(); ++n) {
    most = std::max(most, ++counts[words[n] + " " + words[n + 1] + " " + words[n + 2] + " " + words[n + 3]]);
  }
  return most;
}

TEST_P(BundledModel, GivesSomethingSaneForOddLines) {
  const Translator translator = open();
  std::string long_line;
  for (size_t n = 0; n < 50; ++n) long_line += about("Tom", n) + " ";
  const std::vector<std::string> translations =
      translator.translate({"", "   ", "Hotel", "12345", "☃ 漢字", long_line});
  EXPECT_EQ(translations[0], "");
  EXPECT_EQ(translations[1], "");
  for (size_t n = 2; n < 5; ++n) {
    EXPECT_FALSE(translations[n].empty()) << n;
    EXPECT_LE(translations[n].size(), 60u) << translations[n];
  }
  // 50 sentences of 3 to 6 words: as long as the source, and each of the ten said about five times.
  const auto words = [](const std::string& text) { return std::count(text.begin(), text.end(), ' ') + 1; };
  EXPECT_GT(words(translations[5]), words(long_line) * 2 / 3) << translations[5];
  EXPECT_LT(words(translations[5]), words(long_line) * 3 / 2) << translations[5];
  EXPECT_LE(most_repeated(translations[5]), 10) << translations[5];
}

TEST_P(BundledModel, GivesAlternativesForEachLineAndStopsWhenCancelled) {
  const Translator translator = open();
  const std::vector<std::string> lines{about("Tom", 0), "", about("Tom", 2)};
  std::atomic<bool> cancelled{false};
  const TranslateOptions options{.beam = 3, .nbest = 2, .cancelled = &cancelled};
  const auto found = translator.alternatives(lines, options);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[2].size(), 2u);
  EXPECT_EQ(found[2][1].text, translator.alternatives(lines[2], options)[1].text);
  EXPECT_EQ(found[0][0].text, translator.translate(lines, options)[0]);
  cancelled = true;
  EXPECT_THROW(translator.alternatives(lines, options), Cancelled);
  EXPECT_THROW(translator.translate(lines, options), Cancelled);
}

TEST_P(BundledModel, SwitchesHeadsOff) {
  const Translator translator = open();
  const Trace plain = translator.attend(about("Tom", 0));
  const Trace without = translator.attend(about("Tom", 0), plain.target, {"encoder:1:all"});
  EXPECT_EQ(without.target_tokens, plain.target_tokens);
  EXPECT_EQ(without.encoder[0][0].weights, plain.encoder[0][0].weights);
  EXPECT_NE(without.encoder[1][0].weights, plain.encoder[1][0].weights);
  EXPECT_THROW(translator.attend("a", "", {"encoder:99:1"}), Error);
  EXPECT_THROW(translator.attend(" "), Error);
}

INSTANTIATE_TEST_SUITE_P(Directions, BundledModel, testing::Values(kGerman, kEnglish), [](const auto& each) {
  return std::string(each.param.model) == "models/de-en" ? "DeEn" : "EnEs";
});

// The model finds these translations unlikely. A constrained search alone added them to the sentence: "Is
// that your dog cucumber?"
TEST(BundledModels, GlossaryTermsReplaceOtherTranslations) {
  const Translator translator(source_folder() + "/models/de-en", 1);
  TranslateOptions options;
  options.glossary = {{"Hund", "cucumber"}, {"Haus", "pizza"}};
  EXPECT_EQ(translator.translate("Ist das dein Hund?", options), "Is that your cucumber?");
  EXPECT_EQ(translator.translate("Das Haus ist groß, aber der Hund ist klein.", options),
            "The pizza is big, but the cucumber is small.");
}

TEST(BundledModels, TranslateThroughOthers) {
  const std::string folder = source_folder() + "/models/";
  const Translator chain = Translator::chain({folder + "de-en", folder + "en-es"}, 2);
  const Translator first(folder + "de-en", 2), last(folder + "en-es", 2);
  const std::string text = "Der kleine Hund schläft um 14:35 Uhr.";
  const std::string between = first.translate(text);
  EXPECT_EQ(chain.translate(text), last.translate(between));
  TranslateOptions options;
  options.alignment = options.confidence = true;
  options.nbest = 2;
  const TranslatedText best = chain.alternatives(text, options).front();
  EXPECT_EQ(best.text, chain.translate(text));
  EXPECT_EQ(best.intermediate, std::vector{between});
  const auto dog = std::ranges::count(best.text.substr(0, best.text.find("perr")), ' ');  // perro, perrito
  EXPECT_EQ(std::ranges::count(best.alignment, std::pair(2, static_cast<int>(dog))), 1) << best.text;
  EXPECT_LT(best.confidence, last.alternatives(between, options).front().confidence);
  EXPECT_TRUE(best.warnings.empty());

  TranslateOptions terms;
  terms.glossary = {{"Hund", "cachorro"}};
  EXPECT_NE(chain.translate(text, terms).find("cachorro"), std::string::npos) << chain.translate(text, terms);
  TranslateOptions ablated;
  ablated.ablate = {"cross:1:1"};
  EXPECT_THROW(chain.translate(text, ablated), Error);
  EXPECT_THROW(chain.attend(text), Error);
  EXPECT_THROW(chain.log_probability(text, "El perro."), Error);
  EXPECT_THROW(Translator::chain({folder + "en-es", folder + "de-en"}), Error);
}

}  // namespace
}  // namespace heed
