// Translation in several steps: each reads what the one before it wrote, and alignments, confidences and
// warnings are those of the whole way.
#include "translate/translator_chain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <ctime>

#include "heed/cancel.h"
#include "heed/error.h"
#include "search/test_seq2seq.h"
#include "search/test_tokenizer.h"
#include "translate/language_steps.h"
#include "translate/words/confidence.h"
#include "translate/words/word_alignment.h"

namespace heed::translate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TranslationTokenizer tokenizer_between(const std::string& source, const std::string& target) {
  TokenizerTrainOptions options;
  options.source.vocabulary_size = 330;
  options.source_language = source;
  options.target_language = target;
  return search::train_tokenizer(options);
}

/// Untrained models for German to English and English to Spanish.
struct ChainBench {
  static models::LoadedModel loaded(uint64_t seed) {
    auto model = std::make_unique<models::Transformer>(search::small_translator_config());
    models::LoadedModel loaded;
    loaded.values = nn::random_parameters(model->table(), DType::kFloat32, seed, 0.4);
    loaded.packed = std::make_unique<nn::PackedWeights>(model->table(), loaded.values);
    loaded.model = std::move(model);
    return loaded;
  }
  models::LoadedModel first = loaded(3), second = loaded(4);
  TranslationTokenizer to_english = tokenizer_between("de", "en"), to_spanish = tokenizer_between("en", "es");
  ThreadPool pool{2};

  Translator one(const TranslatorOptions& options = {}) { return {first, to_english, pool, options}; }
  Translator other(const TranslatorOptions& options = {}) { return {second, to_spanish, pool, options}; }
  TranslatorChain chain(const TranslatorOptions& options = {}, const TranslatorOptions& last = {}) {
    return {{{first, to_english, options}, {second, to_spanish, last}}, pool};
  }
};

std::vector<std::string> chain_lines() {
  return {search::training_lines()[3], "", search::training_lines()[100], " ", search::training_lines()[7]};
}

TEST(TranslatorChain, EachStepReadsWhatTheOneBeforeItWrote) {
  ChainBench bench;
  TranslatorOptions last;
  last.search.nbest = 2;
  const auto actual = bench.chain({}, last).translate(chain_lines());
  const auto between = bench.one().translate(chain_lines());
  ASSERT_EQ(actual.size(), chain_lines().size());
  for (size_t n = 0; n < actual.size(); ++n) {
    const Translation expected = bench.other(last).translate(between[n].best().text);
    EXPECT_EQ(actual[n].source, chain_lines()[n]);
    EXPECT_EQ(actual[n].source_pieces, between[n].source_pieces);
    EXPECT_THAT(actual[n].through, ElementsAre("en"));
    EXPECT_THAT(actual[n].intermediate, ElementsAre(between[n].best().text));
    ASSERT_EQ(actual[n].candidates.size(), expected.candidates.size());
    for (size_t rank = 0; rank < expected.candidates.size(); ++rank) {
      EXPECT_EQ(actual[n].candidates[rank].text, expected.candidates[rank].text);
      EXPECT_EQ(actual[n].candidates[rank].score, expected.candidates[rank].score);
    }
  }
  EXPECT_NE(actual[0].best().text, between[0].best().text);  // or the test would not see a step left out
}

TEST(TranslatorChain, WithOneStepIsItsTranslator) {
  ChainBench bench;
  const TranslatorChain chain({{bench.first, bench.to_english, {}}}, bench.pool);
  const auto actual = chain.translate(chain_lines()), expected = bench.one().translate(chain_lines());
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_EQ(actual[n].best().text, expected[n].best().text);
    EXPECT_TRUE(actual[n].through.empty());
  }
}

TEST(TranslatorChain, DoesNotDependOnWindows) {
  ChainBench bench;
  const auto expected = bench.chain().translate(chain_lines());
  for (const size_t window : {1, 2, 100}) {
    TranslatorOptions options;
    options.window = window;
    const auto actual = bench.chain(options).translate(chain_lines());
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t n = 0; n < actual.size(); ++n) EXPECT_EQ(actual[n].best().text, expected[n].best().text);
  }
}

TEST(TranslatorChain, ProgressEndsWithAllLinesAndBytes) {
  ChainBench bench;
  double bytes = 0;
  for (const std::string& line : chain_lines()) bytes += static_cast<double>(line.size() + 1);
  size_t complete_in_first_step = 0;
  LineTranslator::Progress last;
  const auto progress = [&](const LineTranslator::Progress& done) {
    EXPECT_GE(done.bytes, last.bytes - 1e-9);
    EXPECT_GE(done.lines, last.lines);
    if (done.bytes < bytes / 2 - 1e-9) complete_in_first_step = std::max(complete_in_first_step, done.lines);
    last = done;
  };
  bench.chain().translate(chain_lines(), [](const Translation&) {}, {.progress = progress});
  EXPECT_EQ(last.lines, chain_lines().size());
  EXPECT_NEAR(last.bytes, bytes, 1e-6);
  EXPECT_EQ(complete_in_first_step, 0U);
}

TEST(TranslatorChain, StopsInAnyStep) {
  ChainBench bench;
  std::atomic<bool> stopped = false;
  const auto stop_late = [&](const LineTranslator::Progress& done) {
    if (done.lines > 0) stopped = true;  // of the last step
  };
  size_t taken = 0;
  EXPECT_THROW(bench.chain().translate(std::vector<std::string>(200, chain_lines()[0]),
                                       [&](const Translation&) { ++taken; },
                                       {.progress = stop_late, .stop = Stop(&stopped)}),
               Cancelled);
  EXPECT_EQ(taken, 0U);
}

TEST(TranslatorChain, AlignmentsAndConfidencesAreOfTheWholeWay) {
  ChainBench bench;
  TranslatorOptions options;
  options.align = options.confidence = true;
  const Translation one = bench.one(options).translate(chain_lines()[0]);
  const Translation other = bench.other(options).translate(one.best().text);
  const Candidate best = bench.chain(options, options).translate(chain_lines()[0]).best();
  EXPECT_EQ(best.alignment, composed_links(one.best().alignment, other.best().alignment));
  EXPECT_EQ(best.word_confidence, confidence_through(one.best().word_confidence, other.best().alignment,
                                                     other.best().word_confidence));
  EXPECT_LT(text_confidence(best.word_confidence), text_confidence(other.best().word_confidence));
}

TEST(TranslatorChain, NumbersThatBecomeMoreWordsAreLinkedToTheirOwn) {
  ChainBench bench;
  TranslatorOptions options, last;
  options.align = options.check_values = options.split_sentences = true;
  const Candidate number = bench.one(options).translate("5km").best();
  EXPECT_EQ(number.text, "5 km");
  EXPECT_THAT(number.alignment, ElementsAre(WordLink(0, 0), WordLink(0, 1)));
  last.glossary = std::make_shared<const Glossary>(Glossary::parse("house\tcasa\n", "terms"));
  const Translation translation = bench.chain(options, last).translate("The house sees! 5km");
  EXPECT_THAT(translation.intermediate.at(0), testing::EndsWith("5 km"));
}

TEST(TranslatorChain, WarnsOfWhatSourceAndLastTranslationSayOtherwise) {
  ChainBench bench;
  TranslatorOptions options;
  options.check_values = true;
  options.search.sample = true;  // an untrained model loses every number, and samples are not repaired
  const std::string line = "The teacher sees 14 gardens.";
  const auto end_to_end = bench.chain(options, options).translate(line).warnings;
  ASSERT_FALSE(end_to_end.empty());
  EXPECT_THAT(end_to_end[0], HasSubstr("14"));
  EXPECT_TRUE(bench.chain(options, {}).translate(line).warnings ==
              bench.one(options).translate(line).warnings);
  EXPECT_TRUE(bench.chain().translate(line).warnings.empty());
  TranslatorOptions last = options;
  last.constraints.required = {"old teacher"};
  last.search.max_length = 2;
  for (const bool compares : {true, false}) {
    last.check_values = compares;
    EXPECT_THAT(bench.chain(options, last).translate("The house sees.").warnings,
                ElementsAre("the translation lacks \"old teacher\""));
  }
}

TEST(TranslatorChain, RefusesModelsThatDoNotFit) {
  ChainBench bench;
  const auto error_of = [&](std::vector<ChainStep> steps) {
    try {
      const TranslatorChain chain(std::move(steps), bench.pool);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kUsage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(error_of({}), HasSubstr("at least one"));
  EXPECT_THAT(error_of({{bench.second, bench.to_spanish, {}}, {bench.first, bench.to_english, {}}}),
              HasSubstr("reads de, but the model before it writes es"));
}

TEST(TranslatorChain, OptionsGoToTheirSteps) {
  TranslateOptions choices;
  choices.beam = 5;
  choices.nbest = 3;
  choices.prefix = "El";
  choices.require = {"perro"};
  choices.forbid = {"gato"};
  choices.glossary = {{"Hund", "perro"}};
  choices.check_values = false;
  choices.confidence = true;
  const TranslateOptions first = choices_of_step(choices, 0, 2), last = choices_of_step(choices, 1, 2);
  EXPECT_EQ(first.beam, 5);
  EXPECT_EQ(first.nbest, 1);
  EXPECT_TRUE(first.prefix.empty() && first.require.empty() && first.forbid.empty());
  EXPECT_TRUE(first.glossary.empty());
  EXPECT_TRUE(first.alignment);  // where the terms of the glossary are
  EXPECT_FALSE(first.check_values || last.check_values);
  EXPECT_EQ(last.nbest, 3);
  EXPECT_EQ(last.prefix, "El");
  EXPECT_THAT(last.require, ElementsAre("perro"));
  EXPECT_EQ(last.glossary, choices.glossary);
  EXPECT_TRUE(last.alignment);  // which words the confidences are of
  choices.glossary.clear();
  EXPECT_FALSE(choices_of_step(choices, 0, 2).alignment);

  TranslateOptions sampled;
  sampled.sample = true;
  sampled.temperature = 0.5;
  sampled.seed = 7;
  EXPECT_FALSE(choices_of_step(sampled, 0, 2).sample || choices_of_step(sampled, 0, 2).seed);
  EXPECT_EQ(choices_of_step(sampled, 1, 2).seed, 7U);
  sampled.beam = 2;  // not with samples, in any step
  EXPECT_THROW(choices_of_step(sampled, 0, 2), Error);

  TranslateOptions ablated;
  ablated.ablate = {"cross:1:1"};
  EXPECT_THROW(choices_of_step(ablated, 0, 2), Error);
  EXPECT_EQ(choices_of_step(ablated, 0, 1).ablate, ablated.ablate);
}

TEST(ComposedLinks, JoinWordsByTheWordBetween) {
  const std::vector<WordLink> first{{0, 0}, {1, 2}, {1, 3}, {2, 1}}, second{{3, 0}, {2, 0}, {0, 1}, {4, 2}};
  EXPECT_THAT(composed_links(first, second), ElementsAre(WordLink(1, 0), WordLink(0, 1)));
  EXPECT_THAT(composed_links(first, {}), testing::IsEmpty());
  EXPECT_THAT(composed_links({}, second), testing::IsEmpty());
  const std::vector<WordLink> two{{5, 0}, {3, 0}};
  EXPECT_THAT(composed_links(two, {{0, 0}}), ElementsAre(WordLink(3, 0), WordLink(5, 0)));
}

TEST(ComposedLinks, TakeLinearTime) {
  const int words = 50'000;
  std::vector<WordLink> links;
  for (int word = 0; word < words; ++word) links.emplace_back(word, word);
  std::reverse(links.begin(), links.end());
  const std::clock_t begin = std::clock();
  EXPECT_EQ(composed_links(links, links).size(), links.size());
  std::string text;
  std::vector<Glossary::Match> terms;
  for (int word = 0; word < words; ++word) {
    terms.push_back({text.size(), text.size() + 1, "perro"});
    text += "x ";
  }
  EXPECT_EQ(carried_terms(terms, text, text, links).size(), terms.size());
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);  // of quadratic time, many
}

TEST(CarriedTerms, StandForTheLinkedWords) {
  const auto carried = [](const std::vector<Glossary::Match>& terms, const std::vector<WordLink>& links) {
    const std::string source = "Der Hauptbahnhof, sagt er.", translation = "“The central station,” he says.";
    std::vector<std::string> texts;
    for (const Glossary::Match& match : carried_terms(terms, source, translation, links))
      texts.push_back(translation.substr(match.begin, match.end - match.begin) + "=" + match.target);
    return texts;
  };
  const std::vector<WordLink> links{{0, 0}, {1, 1}, {1, 2}, {3, 3}, {2, 4}, {1, 4}};
  const Glossary::Match station{4, 16, "estación"}, he{23, 25, "él"};
  EXPECT_THAT(carried({station, he}, links), ElementsAre("central station=estación", "he=él"));
  EXPECT_THAT(carried({{18, 22, "dice"}, he}, links), ElementsAre("he=él", "says=dice"));  // in their order
  EXPECT_THAT(carried({{0, 3, "La"}}, links), ElementsAre("The=La"));                      // without “
  EXPECT_THAT(carried({station}, {}), ElementsAre("=estación"));
  EXPECT_THAT(carried({station, {0, 3, "La"}}, {{0, 1}, {1, 1}}), ElementsAre("central=estación"));
  EXPECT_THAT(carried_terms({{0, 3, "La"}}, "Der", "", {}).size(), 1);
  EXPECT_THAT(carried({station}, {{1, 1}, {7, 2}, {1, 9}, {-1, 0}}), ElementsAre("central=estación"));
}

TEST(ConfidenceThrough, MultipliesByTheWordsBetween) {
  const std::vector<double> between{0.8, 0.4, 0.6};
  const std::vector<WordLink> links{{0, 0}, {1, 1}, {2, 1}};
  const std::vector<double> through = confidence_through(between, links, {0.5, 1, 0.5});
  EXPECT_THAT(through, ElementsAre(testing::DoubleEq(0.4), testing::DoubleEq(0.5), testing::DoubleEq(0.3)));
}

TEST(LanguageSteps, FindTheShortestWay) {
  const LanguageSteps steps(
      {{"de", "en", 0}, {"en", "es", 1}, {"es", "fr", 2}, {"en", "fr", 3}, {"en", "de", 4}, {"en", "es", 5}});
  const auto models = [&](const std::string& source, const std::string& target) {
    std::vector<size_t> found;
    for (const LanguageStep& step : steps.between(source, target)) found.push_back(step.model);
    return found;
  };
  EXPECT_THAT(models("de", "en"), ElementsAre(0));
  EXPECT_THAT(models("de", "es"), ElementsAre(0, 1));  // the first of two
  EXPECT_THAT(models("de", "fr"), ElementsAre(0, 3));  // not through Spanish
  EXPECT_TRUE(models("fr", "de").empty());
  EXPECT_TRUE(models("de", "de").empty());
  EXPECT_TRUE(models("xx", "de").empty());
  EXPECT_THAT(steps.targets("de"), ElementsAre("en", "es", "fr"));
  EXPECT_THAT(steps.targets("en"), ElementsAre("de", "es", "fr"));
  EXPECT_TRUE(steps.targets("fr").empty());
}

}  // namespace
}  // namespace heed::translate
