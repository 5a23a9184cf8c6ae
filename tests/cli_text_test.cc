// Text processing of heed translate: sentence splitting, protected spans, glossaries, documents.

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tiny_model.h"

namespace heed {
namespace {

class CliTextTest : public ::testing::Test {
 protected:
  void SetUp() override { model_ = tiny_model(); }

  /// The output without the last line end.
  std::string translate(const std::string& text, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"translate", "--model", model_});
    more.push_back(text);
    const CommandResult result = heed_command(more);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out.substr(0, result.out.size() - 1);
  }

  TestFolder folder_;
  std::string model_;
};

TEST_F(CliTextTest, SplitsLinesIntoSentences) {
  const auto pairs = tiny_pairs(4, 7);
  const std::string first = pairs[0].source, second = pairs[1].source;
  const std::string line = first + "  " + second;
  const std::string joined = translate(first) + "  " + translate(second);
  EXPECT_EQ(translate(line), joined);
  EXPECT_EQ(translate(line, {"--split-sentences"}), joined);
  EXPECT_NE(translate(line, {"--no-split-sentences", "--scores"}), translate(line, {"--scores"}));
  EXPECT_EQ(translate(line, {"--split-sentences", "--no-split-sentences", "--scores"}),
            translate(line, {"--no-split-sentences", "--scores"}));

  const auto json = nlohmann::json::parse(translate(line, {"--json", "--alignment", "--nbest", "2"}));
  const auto alone = nlohmann::json::parse(translate(second, {"--json", "--alignment"}));
  EXPECT_EQ(json["translation"], joined);
  EXPECT_EQ(json["alternatives"].size(), 1U);
  // The last links belong to the second sentence; indices count the words of the line.
  const auto& links = json["alignment"];
  const auto& links_alone = alone["alignment"];
  ASSERT_GT(links.size(), links_alone.size());
  const auto words = [](const std::string& text) {
    std::istringstream stream(text);
    return static_cast<int>(std::distance(std::istream_iterator<std::string>(stream), {}));
  };
  for (size_t n = 0; n < links_alone.size(); ++n) {
    const auto& link = links[links.size() - links_alone.size() + n];
    EXPECT_EQ(link[0].get<int>(), links_alone[n][0].get<int>() + words(first));
    EXPECT_EQ(link[1].get<int>(), links_alone[n][1].get<int>() + words(translate(first)));
  }
}

// The tokenizer of models/rnn lowers the case, so that no caller has to.
TEST_F(CliTextTest, AModelWithoutCapitalsReadsCapitals) {
  const auto translate_with = [](const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"translate", "--model", source_folder() + "/models/rnn", text};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandResult result = heed_command(arguments);
    EXPECT_EQ(result.status, 0) << result.err;
    return result.out;
  };
  for (const char* text : {"Der Hund schläft.", "Der HUND schläft.", "der hund schläft."}) {
    EXPECT_EQ(translate_with(text), "the dog is sleeping.\n") << text;
  }
  EXPECT_EQ(translate_with("Ärzte äßen Äpfel."), translate_with("ärzte äßen äpfel."));
  EXPECT_EQ(translate_with("Der Hund schläft.", {"--prefix", "A"}),
            translate_with("Der Hund schläft.", {"--prefix", "a"}));
  EXPECT_EQ(translate_with("Der Hund schläft.", {"--require", "Asleep"}), "the dog is asleep.\n");
}

TEST_F(CliTextTest, ProtectedSpansAreCopied) {
  const std::string plain = tiny_pairs(1, 7)[0].source;
  const std::string line = plain.substr(0, plain.size() - 1) + " %1$d https://x.example/a_b?C=1.";
  const std::string translation = translate(line);
  for (const char* span : {"%1$d", "https://x.example/a_b?C=1"}) {
    EXPECT_NE(translation.find(span), std::string::npos) << translation;
  }
  EXPECT_NE(translate(line, {"--no-placeholders"}), translation);
  // Text without spans is unaffected, including its score.
  EXPECT_EQ(translate(plain, {"--scores"}), translate(plain, {"--scores", "--no-placeholders"}));
}

TEST_F(CliTextTest, GlossaryTermsAreTranslatedAsGiven) {
  const SentencePair pair = tiny_pairs(1, 7)[0];
  std::istringstream words(pair.source);
  std::string article, word;
  words >> article >> word;
  const std::string file = folder_.write("terms.tsv", "# terms\n" + word + "\trather special\n");
  const std::string without = translate(pair.source), with = translate(pair.source, {"--glossary", file});
  EXPECT_EQ(without.find("rather special"), std::string::npos);
  EXPECT_NE(with.find("rather special"), std::string::npos) << with;
  EXPECT_EQ(translate("Nichts davon.", {"--glossary", file, "--scores"}),
            translate("Nichts davon.", {"--scores"}));

  const std::string bad = folder_.write("bad.tsv", "a\tb\nnothing\n");
  const CommandResult result = heed_command({"translate", "--model", model_, "--glossary", bad, "x"});
  expect_failure(result, 1, {"bad.tsv", "line 2"});
  expect_failure(heed_command({"translate", "--model", model_, "--glossary", "-", "x"}), 2,
                 {"--glossary", "standard input"});
}

TEST_F(CliTextTest, LinesInCapitalsAreTranslatedIntoCapitals) {
  const std::string capitals = "DER HUND SIEHT DEN HUND.";
  const std::string translation = translate(capitals);
  EXPECT_TRUE(std::none_of(translation.begin(), translation.end(), [](char c) {
    return c >= 'a' && c <= 'z';
  })) << translation;
}

TEST_F(CliTextTest, TagsInPlainTextGetANote) {
  const auto notes = [&](const std::string& text, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"translate", "--model", model_, text});
    return heed_command(more).err;
  };
  EXPECT_NE(notes("Der <b>Hund</b>.").find("--format html"), std::string::npos);
  EXPECT_EQ(notes("Der <b>Hund</b>.", {"--quiet"}), "");
  EXPECT_EQ(notes("Der <b>Hund</b>.", {"--format", "html"}), "");
  EXPECT_EQ(notes("a </ b> c < d > e </> f"), "");
}

TEST_F(CliTextTest, DocumentsThatAreNotTextAreNamed) {
  const auto translated = [&](std::string_view bytes, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"translate", "--model", model_, "--format", "html", "--input",
                               folder_.write("page.html", bytes)});
    return heed_command(more);
  };
  const std::string file = "of '" + folder_.path("page.html") + "'",
                    latin = "<p>Der\nHund\n<code>\xE4</code></p>";
  expect_failure(translated(latin), 1, {"line 3 " + file, "0xE4", "convert the file to UTF-8"});
  expect_failure(translated({"<p>\n\0</p>", 9}), 1, {"line 2 " + file, "NUL", "give a text file in UTF-8"});
  EXPECT_THAT(translated(latin, {"--lossy"}).out, testing::HasSubstr("\xEF\xBF\xBD</code>"));
  EXPECT_THAT(translated({"<i>\0</i>", 8}, {"--lossy"}).out, testing::HasSubstr("\xEF\xBF\xBD</i>"));
  expect_failure(heed_command({"translate", "--model", model_, "--format", "html", "a\xFF"}), 1,
                 {"the document is not UTF-8", "convert it"});
}

// ---- Input that is probably not what was meant

/// What heed translate says of the lines of a file with models/de-en, except of values in its translations;
/// there is one line of output for each.
std::string notes_on(const std::string& text, const std::vector<std::string>& more = {}) {
  const TestFolder folder;
  std::vector<std::string> arguments{"translate", "--model", source_folder() + "/models/de-en"};
  arguments.insert(arguments.end(), {"--beam", "1", "--no-check-values"});
  arguments.insert(arguments.end(), {"--input", folder.write("in.txt", text)});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const CommandResult result = heed_command(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(std::ranges::count(result.out, '\n'), std::ranges::count(text, '\n'));
  return result.err;
}

TEST(InputNotes, TheNameOfAFileIsNotItsText) {
  const TestFolder folder;
  const std::string file = folder.write("de.txt", "Der Hund schläft.\n");
  const auto translate = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"translate", "--model", source_folder() + "/models/de-en"});
    return heed_command(more).err;
  };
  EXPECT_NE(translate({file}).find("--input " + file), std::string::npos);
  EXPECT_NE(translate({"-"}).find("--input -"), std::string::npos);
  EXPECT_EQ(translate({file, "--quiet"}), "");
  EXPECT_EQ(translate({"--input", file}), "");
  EXPECT_EQ(translate({file + ".missing"}), "");
}

TEST(InputNotes, OtherFilesThanText) {
  const auto expect_note = [](const std::string& text, const std::string& name) {
    const std::string notes = notes_on(text);
    EXPECT_TRUE(notes.starts_with("note: the text looks like " + name + ",")) << text << notes;
    EXPECT_EQ(std::ranges::count(notes, '\n'), 1) << notes;
    EXPECT_EQ(notes_on(text, {"--quiet"}), "");
  };
  expect_note("1\n00:00:01,000 --> 00:00:02,500\n<i>Der Hund schläft.</i>\n", "subtitles");
  expect_note("WEBVTT\n\n00:01.000 --> 00:02.500\nDer Hund schläft.\n", "subtitles");
  expect_note("#: a.c:1\nmsgid \"Der Hund\"\nmsgstr \"\"\n", "a .po file");
  expect_note("<!DOCTYPE html>\n<p>Der Hund schläft.</p>\n", "HTML");
  expect_note("{\n  \"a\": \"Der Hund\",\n  \"b\": \"schläft.\"\n}\n", "JSON");
  expect_note("# Hunde\n\nDer Hund schläft.\n\n# Katzen\n", "Markdown");
}

TEST(InputNotes, AnotherLanguage) {
  const std::string english =
      "The dog is sleeping in the garden.\nThe children are playing with the neighbour's cat today.\n";
  EXPECT_NE(notes_on(english).find("looks like English, but the model translates from German"),
            std::string::npos);
  EXPECT_NE(notes_on("犬が庭で寝ている。子供たちは猫と遊んでいる。\n").find("looks like Japanese"),
            std::string::npos);
  EXPECT_EQ(notes_on(english, {"--quiet"}), "");
}

TEST(InputNotes, PairsInTheOtherOrder) {
  const TestFolder folder;
  const std::string file =
      folder.write("pairs.tsv",
                   "The dog is sleeping in the garden.\tDer Hund schläft im Garten.\n"
                   "The children are playing with the cat today.\tDie Kinder spielen heute mit der Katze.\n");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"evaluate", "--beam", "1", file},
                                                  {"score", file},
                                                  {"align", file},
                                                  {"score", "--pairs", file}}) {
    const auto notes = [&](const std::vector<std::string>& more) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.begin() + 1, {"--model", source_folder() + "/models/de-en"});
      arguments.insert(arguments.end(), more.begin(), more.end());
      const CommandResult result = heed_command(arguments);
      EXPECT_EQ(result.status, 0) << result.err;
      return result.err;
    };
    EXPECT_NE(notes({}).find("the sources of '" + file +
                             "' look like English, but the model translates from "
                             "German: exchange the sides (--swap), give --pair en-de"),
              std::string::npos)
        << command[0] << notes({});
    EXPECT_EQ(notes({"--swap"}).find("look like"), std::string::npos) << command[0];
    EXPECT_EQ(notes({"--quiet"}), "") << command[0];
  }
}

TEST(InputNotes, PairsWithMoreColumns) {
  const TestFolder folder;
  const std::string file = folder.write("pairs.tsv", "a b\tA B\tCC BY\nb a\tB A\n"),
                    two = folder.write("two.tsv", "a b\tA B\nb a\tB A\n");
  for (const char* command : {"score", "align"}) {
    const auto notes = [&](const std::string& pairs, const std::vector<std::string>& more) {
      std::vector<std::string> arguments{command, "--model", tiny_model(), pairs};
      arguments.insert(arguments.end(), more.begin(), more.end());
      const CommandResult result = heed_command(arguments);
      EXPECT_EQ(result.status, 0) << result.err;
      return result.err;
    };
    EXPECT_NE(
        notes(file, {}).find("pairs.tsv' has 1 line with more than two columns (the first two are used)"),
        std::string::npos)
        << notes(file, {});
    EXPECT_EQ(notes(two, {}).find("columns"), std::string::npos);
    EXPECT_EQ(notes(file, {"--quiet"}), "");
  }
}

TEST(InputNotes, NoFalseAlarms) {
  for (const char* text :
       {"Der Hund schläft im Garten, und die Kinder spielen heute mit der Katze des Nachbarn.\n", "OK\n",
        "The dog is asleep.\n",
        "Manchester United, Real Madrid, Tottenham Hotspur, Atletico Madrid, Borussia Dortmund\n",
        "Wir gehen heute in die Stadt.\nThe dog is sleeping.\nDie Kinder spielen im Garten mit dem Ball.\n",
        "# ein Kommentar\nDer Hund --> die Katze\n", "{Hund}: \"schläft\"\n"}) {
    EXPECT_EQ(notes_on(text), "") << text;
  }
}

}  // namespace
}  // namespace heed
