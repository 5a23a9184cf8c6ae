// heed train with several corpora in a recipe or on the command line.

#include <algorithm>
#include <filesystem>
#include <map>

#include "data/corpus/corpus.h"
#include "text/terms/placeholder_piece.h"
#include "text/tokenizers/translation_tokenizer.h"
#include "tiny_model.h"

namespace heed {
namespace {

class TrainData : public ::testing::Test {
 protected:
  /// Prepares and trains one step; a small vocabulary, so that it takes little time.
  CommandResult train(const std::string& output, std::vector<std::string> more) const {
    std::vector<std::string> arguments{"train",       "--output", folder_.path(output), "--preset", "tiny",
                                       "--max-steps", "1",        "--threads",          "2"};
    if (std::ranges::count(more, "--from") == 0) {
      arguments.insert(arguments.end(),
                       {"--set", "tokenizer.vocabulary=100", "--set", "tokenizer.byte_fallback=false"});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return heed_command(arguments);
  }
  std::string ids(const std::string& output) const {
    return content_of(folder_.path(output + "/training/train.ids"));
  }
  uint64_t pairs_in(const std::string& output) const {
    return Corpus(folder_.path(output + "/training/train.ids")).sentences();
  }

  TestFolder folder_;
  std::string first_ = folder_.write("first.tsv", to_tsv(tiny_pairs(200, 1)));
  std::string second_ = folder_.write("second.tsv", to_tsv(tiny_pairs(100, 2)));
};

TEST_F(TrainData, MixesTheCorporaOfARecipe) {
  std::filesystem::create_directory(folder_.path("recipes"));
  const std::string recipe = folder_.write(
      "recipes/r.toml",
      "[[corpus]]\npairs = \"../first.tsv\"\n\n[[corpus]]\npairs = \"../second.tsv\"\nweight = 2.5\n");
  const CommandResult result = train("model", {"--recipe", recipe});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find("first.tsv': 200 pairs\n"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("second.tsv': 100 pairs, 2"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("2 corpora: "), std::string::npos) << result.err;
  EXPECT_GT(pairs_in("model"), 200u + 200u + 20u);
  EXPECT_LT(pairs_in("model"), 200u + 300u - 20u);

  // The stored recipe reproduces the run from any directory, with any number of threads.
  const std::string noted = folder_.path("model/training/recipe.toml");
  const CommandResult again = train("again", {"--recipe", noted, "--threads", "1"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(ids("again"), ids("model"));
  EXPECT_EQ(content_of(folder_.path("again/training/recipe.toml")), content_of(noted));

  // Resuming requires the same text.
  const auto resumed = [&](const std::string& text) {
    folder_.write("recipes/r.toml", text);
    return train("model", {"--recipe", recipe, "--max-steps", "2"});
  };
  expect_failure(resumed("[[corpus]]\npairs = \"../first.tsv\"\n"), 2, {"has changed since the training"});
  expect_failure(resumed("[[corpus]]\npairs = \"../first.tsv\"\n[[corpus]]\npairs = \"../second.tsv\"\n"), 2,
                 {"has changed since the training"});
  EXPECT_EQ(train("model", {"--recipe", noted, "--max-steps", "2"}).status, 0);
}

TEST_F(TrainData, RepeatedPairs) {
  const CommandResult result = train("model", {"--pairs", first_, "--pairs", second_});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(pairs_in("model"), 300u);
  const std::string recipe =
      folder_.write("r.toml", "[[corpus]]\npairs = \"second.tsv\"\n[[corpus]]\npairs = \"first.tsv\"\n");
  // Corpora of the command line replace those of the recipe.
  ASSERT_EQ(train("other", {"--recipe", recipe, "--pairs", first_, "--pairs", second_}).status, 0);
  EXPECT_EQ(ids("other"), ids("model"));
  ASSERT_EQ(train("one", {"--recipe", recipe, "--pairs", first_}).status, 0);
  EXPECT_EQ(pairs_in("one"), 200u);
}

TEST_F(TrainData, SwapsTheSidesOfAllCorpora) {
  const std::string there = folder_.write("there.toml",
                                          "[[corpus]]\npairs = \"first.tsv\"\nswap = true\n"
                                          "[[corpus]]\npairs = \"second.tsv\"\n");
  const std::string back = folder_.write("back.toml",
                                         "[[corpus]]\npairs = \"first.tsv\"\n"
                                         "[[corpus]]\npairs = \"second.tsv\"\nswap = true\n");
  ASSERT_EQ(train("there", {"--recipe", there}).status, 0);
  ASSERT_EQ(train("back", {"--recipe", back, "--swap"}).status, 0);
  EXPECT_EQ(ids("there"), ids("back"));
}

TEST_F(TrainData, PreparesAgainForOtherSettings) {
  ASSERT_EQ(train("model", {"--pairs", first_}).status, 0);
  EXPECT_EQ(pairs_in("model"), 200u);
  for (const char* file : {"training/checkpoint.safetensors", "model.safetensors"}) {
    std::filesystem::remove(folder_.path(std::string("model/") + file));  // as if stopped before step 1
  }
  ASSERT_EQ(train("model", {"--pairs", first_, "--set", "augmentation.uppercase=1"}).status, 0);
  EXPECT_EQ(pairs_in("model"), 400u);
}

TEST_F(TrainData, TitleCaseIsForEnglishInAnySpelling) {
  const auto with_title_case = [&](const std::string& model, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--pairs", first_, "--set", "augmentation.title_case=1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = train(model, arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.err;
  };
  const std::string dropped = "augmentation.title_case adds nothing";
  for (const std::string pair : {"en-de", "en_US-de_DE", "eng_Latn-deu_Latn"}) {
    EXPECT_EQ(with_title_case(pair, {"--pair", pair, "--swap"}).find(dropped), std::string::npos) << pair;
    EXPECT_GT(pairs_in(pair), 300u) << pair;
  }
  EXPECT_NE(with_title_case("german", {"--pair", "de-en"}).find(dropped), std::string::npos);
  EXPECT_EQ(pairs_in("german"), 200u);
}

TEST_F(TrainData, PlaceholdersAndTagsArePieces) {
  const std::string recipe = folder_.write(
      "r.toml",
      "[tokenizer]\nplaceholders = 4\n[augmentation]\nplaceholders = 0.5\nlowercase = 1\naddresses = 0.2\n"
      "[[corpus]]\npairs = \"first.tsv\"\n[[corpus]]\npairs = \"second.tsv\"\ntag = \"⟦bt⟧\"\n");
  const CommandResult result = train("model", {"--recipe", recipe, "--set", "tokenizer.vocabulary=150"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_NE(result.err.find(" placeholders"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("300 lowercase"), std::string::npos) << result.err;
  const TranslationTokenizer tokenizer = TranslationTokenizer::load(folder_.path("model"));
  EXPECT_EQ(placeholder_pieces(tokenizer.vocabulary()), 4);
  const auto tag = tokenizer.vocabulary().find("⟦bt⟧");
  ASSERT_TRUE(tag);
  const Corpus corpus(folder_.path("model/training/train.ids"));
  std::map<int32_t, uint64_t> sources, targets;
  for (uint64_t n = 0; n < corpus.sentences(); ++n) {
    for (const int32_t id : corpus.sentence(0, n)) ++sources[id];
    for (const int32_t id : corpus.sentence(1, n)) ++targets[id];
  }
  EXPECT_GT(sources[*tag], 200u);  // 100 pairs, as many in small letters, and what is added else
  EXPECT_EQ(targets[*tag], 0u);
  for (int n = 0; n < 4; ++n) {
    const int32_t id = tokenizer.vocabulary().id(placeholder_piece(n));
    EXPECT_GT(sources[id], 0u);
    EXPECT_EQ(sources[id], targets[id]);
  }
  // Fine-tuning keeps the tokenizer.
  const std::string further = folder_.write("f.toml", "[augmentation]\nplaceholders = 0.5\n");
  EXPECT_EQ(
      train("further", {"--recipe", further, "--from", folder_.path("model"), "--pairs", first_}).status, 0);
}

TEST_F(TrainData, FineTuningForAnotherPairNamesItsLanguages) {
  ASSERT_EQ(train("model", {"--pairs", first_, "--pair", "de-en"}).status, 0);
  const auto languages_of = [&](const std::string& model) {
    const auto tokenizer = TranslationTokenizer::load(folder_.path(model));
    return tokenizer.source_language() + "-" + tokenizer.target_language();
  };
  EXPECT_EQ(languages_of("model"), "de-en");
  const std::string from = folder_.path("model");
  ASSERT_EQ(train("same", {"--from", from, "--pairs", first_}).status, 0);
  EXPECT_EQ(languages_of("same"), "de-en");
  ASSERT_EQ(train("other", {"--from", from, "--pairs", first_, "--swap", "--pair", "en-de"}).status, 0);
  EXPECT_EQ(languages_of("other"), "en-de");
  // The same command goes on with it.
  ASSERT_EQ(train("other", {"--from", from, "--pairs", first_, "--swap", "--pair", "en-de"}).status, 0);
}

TEST_F(TrainData, PlaceholdersAndTagsMustBePieces) {
  ASSERT_EQ(train("plain", {"--pairs", first_}).status, 0);
  expect_failure(train("refused", {"--pairs", first_, "--set", "augmentation.placeholders=0.1"}), 2,
                 {"augmentation.placeholders", "tokenizer.placeholders"});
  const std::string plain = folder_.path("plain");
  expect_failure(
      train("refused", {"--from", plain, "--pairs", first_, "--set", "augmentation.placeholders=0.1"}), 2,
      {"augmentation.placeholders", plain});
  const std::string tagged = folder_.write("r.toml", "[[corpus]]\npairs = \"first.tsv\"\ntag = \"⟦bt⟧\"\n");
  expect_failure(train("refused", {"--from", plain, "--recipe", tagged}), 2, {"⟦bt⟧", plain});
}

TEST_F(TrainData, Cleaning) {
  folder_.write("more.tsv", to_tsv(tiny_pairs(100, 2)) + "Guten Tag, Tom.\tGuten Tag, Tom.\nja\t" +
                                std::string(200, 'y') + "\n");
  folder_.write("test.tsv", content_of(second_).substr(0, content_of(second_).find('\n', 0) + 1));
  const std::string recipe =
      folder_.write("r.toml",
                    "[cleaning]\ndrop_duplicates = true\nmax_length_ratio = 3\nmax_identical_words = "
                    "1\nheld_out = [\"test.tsv\"]\n"
                    "[[corpus]]\npairs = \"second.tsv\"\n[[corpus]]\npairs = \"more.tsv\"\nweight = 2\n");
  const CommandResult result = train("model", {"--recipe", recipe});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(pairs_in("model"), 98u) << result.err;  // the hundred pairs contain one duplicate
  EXPECT_NE(result.err.find("removed: 1 length ratio, 1 identical, 1 held out, 99 duplicates"),
            std::string::npos)
      << result.err;
  const std::string noted = folder_.path("model/training/recipe.toml");
  EXPECT_EQ(train("again", {"--recipe", noted}).status, 0);
  EXPECT_EQ(ids("again"), ids("model"));
  folder_.write("test.tsv", "Der Hund.\tThe dog.\n");
  expect_failure(train("model", {"--recipe", recipe, "--max-steps", "2"}), 2,
                 {"has changed since the training"});
  expect_failure(train("refused", {"--pairs", first_, "--set", "cleaning.drop_other_languages=true"}), 2,
                 {"--pair"});
}

TEST_F(TrainData, ErrorsNameTheCorpus) {
  const auto refused = [&](const std::string& text, int status, const std::vector<std::string>& parts) {
    expect_failure(train("refused", {"--recipe", folder_.write("r.toml", text)}), status, parts);
    EXPECT_FALSE(std::filesystem::exists(folder_.path("refused")));
  };
  refused("[[corpus]]\npair = \"first.tsv\"\n", 1, {"r.toml, line 2", "'pair'", "'pairs'"});
  refused("[[corpus]]\npairs = \"first.tsv\"\nweight = -1\n", 1, {"r.toml, line 3", "weight", "0 to 1000"});
  refused("[corpus]\npairs = \"first.tsv\"\n", 1, {"r.toml", "[[corpus]]"});
  refused("corpus = [\"first.tsv\"]\n", 1, {"r.toml", "[[corpus]]"});
  refused("[[corpus]]\npairs = \"none.tsv\"\n", 1, {folder_.path("none.tsv"), "No such file"});
  refused("[[corpus]]\nweight = 2\n", 2, {"sentence pairs need one file"});
  folder_.write("bad.tsv", "ja\tyes\nnein\n");
  refused("[[corpus]]\npairs = \"first.tsv\"\n[[corpus]]\npairs = \"bad.tsv\"\n", 1,
          {"line 2", folder_.path("bad.tsv"), "no tab"});
  expect_failure(heed_command({"train", "--task", "lm", "--recipe",
                               folder_.write("r.toml", "[[corpus]]\npairs = \"first.tsv\"\n"), "--output",
                               folder_.path("refused"), "--max-steps", "1"}),
                 2, {"a language model", "not on pairs"});
  expect_failure(train("refused", {"--pairs", first_, "--pairs", second_, "--source", first_}), 2,
                 {"exclude each other"});
}

}  // namespace
}  // namespace heed
