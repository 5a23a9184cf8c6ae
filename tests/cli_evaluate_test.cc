// heed evaluate with several systems and test sets: metrics, confidence intervals, paired tests, and counts.

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tiny_model.h"

namespace heed {
namespace {

using Json = nlohmann::json;

const std::vector<std::string> kReference{"The cat sat on the mat.",
                                          "Hello world, how are you today?",
                                          "It costs 19.99 euros in this shop.",
                                          "We meet at ten o'clock on Friday.",
                                          "My brother lives in a small house.",
                                          "She reads a book every week."};
const std::vector<std::string> kFirst{"The cat sat on a mat.",
                                      "Hello world, how are you now?",
                                      "It costs 19.99 euros in this shop.",
                                      "We meet on Friday at ten o'clock.",
                                      "My brother lives in small house.",
                                      "She reads one book every week."};
const std::vector<std::string> kSecond{"A cat sits on the mat.",           "Hello world, who are you today?",
                                       "It costs 199,9 euro in the shop.", "We meet at ten on Friday.",
                                       "Brother lives in a little house.", "She reads a book each week."};

std::string to_file(const std::vector<std::string>& lines) {
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

class EvaluateCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    reference_ = folder_.write("reference", to_file(kReference));
    first_ = folder_.write("first", to_file(kFirst));
    second_ = folder_.write("second", to_file(kSecond));
  }

  static CommandResult evaluate(std::vector<std::string> arguments, const Command::Settings& settings = {}) {
    arguments.insert(arguments.begin(), "evaluate");
    return heed_command(arguments, settings);
  }
  static std::vector<Json> rows(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    const CommandResult result = evaluate(std::move(arguments));
    EXPECT_EQ(result.status, 0) << result.err;
    std::vector<Json> objects;
    std::istringstream lines(result.out);
    for (std::string line; std::getline(lines, line);) objects.push_back(Json::parse(line));
    return objects;
  }

  TestFolder folder_;
  std::string reference_, first_, second_;
};

// Expected values from sacreBLEU 2.6.0, which resamples in float32.
constexpr double kTolerance = 1e-4;

TEST_F(EvaluateCommand, GivesSacreBleusConfidenceIntervals) {
  const auto all = rows({"--hypothesis", first_, "--reference", reference_, "--metrics", "bleu,chrf,ter",
                         "--confidence", "--confidence-n", "200"});
  ASSERT_EQ(all.size(), 1u);
  const Json& row = all[0];
  EXPECT_NEAR(row.at("bleu"), 61.28983115649529, 1e-9);
  EXPECT_NEAR(row.at("bleu_mean"), 61.84266393263317, kTolerance);
  EXPECT_NEAR(row.at("bleu_confidence"), 20.303855619046935, kTolerance);
  EXPECT_NEAR(row.at("chrf"), 82.09780000579835, 1e-9);
  EXPECT_NEAR(row.at("chrf_mean"), 82.549835, kTolerance);
  EXPECT_NEAR(row.at("chrf_confidence"), 8.765179, kTolerance);
  EXPECT_NEAR(row.at("ter"), 20.51282051282051, 1e-9);
  EXPECT_NEAR(row.at("ter_mean"), 19.795403, kTolerance);
  EXPECT_NEAR(row.at("ter_confidence"), 13.75, kTolerance);
  EXPECT_EQ(row.at("bleu_signature"),
            "nrefs:1|bs:200|seed:12345|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0");
  EXPECT_EQ(row.at("ter_signature"),
            "nrefs:1|bs:200|seed:12345|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
  EXPECT_FALSE(row.contains("chrf++"));
  const CommandResult text =
      evaluate({"--hypothesis", first_, "--reference", reference_, "--confidence", "--confidence-n", "200"});
  EXPECT_NE(text.out.find("BLEU     61.29 (\u03bc = 61.84 \u00b1 20.30)  nrefs:1|bs:200|"), std::string::npos)
      << text.out;
}

TEST_F(EvaluateCommand, GivesSacreBleusPairedTests) {
  const std::vector<std::string> systems{"--hypothesis", first_,     "--hypothesis", second_,
                                         "--reference",  reference_, "--metrics",    "bleu,chrf,ter"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), systems.begin(), systems.end());
    return rows(more);
  };
  const auto bootstrap = with({"--paired-bs", "--paired-bs-n", "200"});
  ASSERT_EQ(bootstrap.size(), 2u);
  EXPECT_EQ(bootstrap[0].at("system"), first_);
  EXPECT_FALSE(bootstrap[0].contains("bleu_p_value"));
  EXPECT_NEAR(bootstrap[1].at("bleu"), 37.74898617747533, 1e-9);
  EXPECT_NEAR(bootstrap[1].at("bleu_p_value"), 0.08955223880597014, 1e-12);
  EXPECT_NEAR(bootstrap[1].at("chrf_p_value"), 0.014925373134328358, 1e-12);
  EXPECT_NEAR(bootstrap[1].at("ter_p_value"), 0.24378109452736318, 1e-12);
  EXPECT_NEAR(bootstrap[1].at("chrf_confidence"), 7.551449, kTolerance);
  const auto randomized = with({"--paired-ar", "--paired-ar-n", "200"});
  EXPECT_NEAR(randomized[1].at("bleu_p_value"), 0.09950248756218906, 1e-12);
  EXPECT_NEAR(randomized[1].at("chrf_p_value"), 0.03980099502487562, 1e-12);
  EXPECT_NEAR(randomized[1].at("ter_p_value"), 0.42786069651741293, 1e-12);
  EXPECT_FALSE(randomized[1].contains("bleu_confidence"));
  EXPECT_EQ(randomized[1].at("chrf_signature"),
            "nrefs:1|ar:200|seed:12345|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0");
  // The control: another seed resamples other lines.
  EXPECT_NE(with({"--paired-ar", "--paired-ar-n", "200", "--seed", "7"})[1].at("bleu_p_value"),
            randomized[1].at("bleu_p_value"));
}

TEST_F(EvaluateCommand, ComparesModelsOnFiles) {
  const std::string near = folder_.write("near.tsv", to_tsv(tiny_pairs(30, 78)));
  const std::string far = folder_.write("far.tsv", "Das ist etwas anderes.\tThis is something else.\n");
  const std::string model = tiny_model();
  const auto all = rows({"--model", model, "--model", model, "--pairs", near, "--pairs", far, "--metrics",
                         "chrf,ter", "--beam", "1"});
  ASSERT_EQ(all.size(), 4u);
  const std::vector<std::string> sets{near, near, far, far};
  for (size_t n = 0; n < all.size(); ++n) {
    EXPECT_EQ(all[n].at("system"), model);
    EXPECT_EQ(all[n].at("test_set"), sets[n]);
    EXPECT_EQ(all[n].at("lines"), n < 2 ? 30 : 1);
  }
  EXPECT_EQ(all[0].at("chrf"), all[1].at("chrf"));
  const Json single = rows({"--model", model, "--pairs", far, "--metrics", "chrf", "--beam", "1"}).at(0);
  EXPECT_EQ(single.at("chrf"), all[2].at("chrf"));
  EXPECT_GT(all[0].at("chrf"), single.at("chrf"));
  const CommandResult table =
      evaluate({"--model", model, "--pairs", near, "--pairs", far, "--metrics", "chrf", "--beam", "1"});
  EXPECT_EQ(table.out.rfind("test set", 0), 0u) << table.out;
  EXPECT_NE(table.out.find(fmt::format("{}", fmt::format("{:6.2f}\n", all[2].at("chrf").get<double>()))),
            std::string::npos)
      << table.out;
}

TEST_F(EvaluateCommand, CountsInventedWords) {
  const std::string known =
      folder_.write("known.tsv", "Ich komme aus Wien\tI am from the capital\tSzymborska\n");
  const std::string source =
      folder_.write("source", "Ich komme aus Wrona.\nIch komme aus Wien.\nEs sind 12.\n");
  const std::string output =
      folder_.write("output", "I am from Wrona.\nI am from mosquitoes.\nSzymborska 12th capital\n");
  const std::string right = folder_.write("right", "I am from Wrona.\nI come from Vienna.\nThere are 12.\n");
  const std::vector<std::string> arguments{
      "--hypothesis", output, "--source", source, "--reference", right, "--invented", "--known-words", known};
  const Json row = rows(arguments).at(0);
  EXPECT_NEAR(row.at("invented_share"), 2.0 / 3, 1e-12);
  ASSERT_EQ(row.at("invented").size(), 2u);
  EXPECT_EQ(row.at("invented")[0].at("line"), 2);
  EXPECT_EQ(row.at("invented")[0].at("words"), Json::array({"mosquitoes"}));
  EXPECT_EQ(row.at("invented")[1].at("words"), Json::array({"Szymborska"}));  // the third column is not text
  const CommandResult text = evaluate(arguments);
  EXPECT_NE(text.out.find("invented words in 2 of 3 lines (66.67%):\n  line 2: mosquitoes: I am from "
                          "mosquitoes.\n"),
            std::string::npos)
      << text.out;
}

TEST_F(EvaluateCommand, CountsRequiredForms) {
  const std::string pairs =
      folder_.write("pairs.tsv",
                    "Das kostet 19,99 \u20ac.\tThis costs \u20ac19.99.\t19.99\n\tnothing\n"
                    "Um 15 Uhr am 3. Mai.\tAt 3 pm on 3 May.\t3 pm|15:00|3 o'clock\t3 May|May 3\n"
                    "Zehn vor 8.\tTen to 8.\t8\n");
  const std::string output = folder_.write("output", "It costs 199,9.\nOn May 3 at 15:00.\nTen to 8.\n");
  const std::vector<std::string> arguments{"--hypothesis", output, "--pairs", pairs, "--must-contain"};
  const Json row = rows(arguments).at(0);
  EXPECT_NEAR(row.at("contained_share"), 2.0 / 3, 1e-12);
  ASSERT_EQ(row.at("lacking").size(), 1u);
  EXPECT_EQ(row.at("lacking")[0].at("line"), 1);
  EXPECT_EQ(row.at("lacking")[0].at("forms"), Json::array({"19.99"}));
  const CommandResult text = evaluate(arguments);
  EXPECT_NE(
      text.out.find("2 of 3 lines (66.67%) contain the required forms; these do not:\n  line 1: 19.99: It"),
      std::string::npos)
      << text.out;
  EXPECT_EQ(text.out.find("\n  line 2"), std::string::npos);
  // Standard input, which cannot be read twice, has the forms too.
  const CommandResult piped =
      evaluate({"--hypothesis", output, "--pairs", "-", "--must-contain"}, {.input = pairs});
  EXPECT_EQ(piped.out, text.out) << piped.err;
  const std::string bare = folder_.write("bare.tsv", "ja\tyes\n");
  for (const std::string columns : {"", "\t", "\t | \t"}) {
    folder_.write("bare.tsv", "ja\tyes" + columns + "\n");
    expect_failure(evaluate({"--hypothesis", output, "--pairs", bare, "--must-contain"}), 1,
                   {"line 1", "bare.tsv", "third column"});
  }
}

TEST_F(EvaluateCommand, NamesEveryColumnThatIsMissing) {
  const std::string pairs = folder_.write(
      "pairs.tsv", "Am 3. Mai um 8 Uhr in Ulm.\tOn 3 May at 8 in Ulm.\t3 May|May 3\tUlm\t8|eight\n");
  const std::vector<std::string> arguments{"--hypothesis", folder_.write("output", "Nothing in Ulm.\n"),
                                           "--pairs", pairs, "--must-contain"};
  const CommandResult text = evaluate(arguments);
  EXPECT_NE(text.out.find("these do not:\n  line 1: 3 May, 8: Nothing in Ulm.\n"), std::string::npos)
      << text.out;
  EXPECT_EQ(rows(arguments).at(0).at("lacking").at(0).at("forms"),
            Json::array({"3 May", "May 3", "8", "eight"}));
}

// The references of the lists in tests/data contain the required forms.
TEST_F(EvaluateCommand, ListsOfValuesAndNamesAgreeWithThemselves) {
  for (const auto& [name, lines] : std::vector<std::pair<std::string, size_t>>{
           {"values.de-en", 200}, {"values.en-es", 200}, {"names.de-en", 100}, {"names.en-es", 100}}) {
    const std::string path = source_folder() + "/tests/data/" + name + ".tsv";
    std::string references;
    std::istringstream rows_of_list(content_of(path));
    for (std::string line; std::getline(rows_of_list, line);) {
      const size_t first = line.find('\t'), second = line.find('\t', first + 1);
      references += line.substr(first + 1, second - first - 1) + "\n";
    }
    const Json row = rows({"--hypothesis", folder_.write("right", references), "--pairs", path,
                           "--must-contain", "--metrics", "chrf"})
                         .at(0);
    EXPECT_EQ(row.at("lines"), lines) << name;
    EXPECT_EQ(row.at("lacking"), Json::array()) << name;
  }
}

TEST_F(EvaluateCommand, ComputesTheRequestedMetrics) {
  const CommandResult result =
      evaluate({"--hypothesis", first_, "--reference", reference_, "--sentence", "--metrics", "ter,chrf"});
  EXPECT_EQ(result.out.substr(0, result.out.find('\n')), "16.67\t65.80") << result.out;
}

TEST_F(EvaluateCommand, SentencesHaveTheNumbersOfTheirLines) {
  const std::string pairs = folder_.write("pairs.tsv", "Eins\tone\n\nZwei\ttwo\n"),
                    hypothesis = folder_.write("found", "one\ntwo\n");
  const std::vector<Json> objects = rows({"--hypothesis", hypothesis, "--pairs", pairs, "--sentence"});
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[0].at("line"), 1);
  EXPECT_EQ(objects[1].at("line"), 3);
}

TEST_F(EvaluateCommand, FilesBesidePairsMayHaveALineForEachLine) {
  const std::string pairs = folder_.write("pairs.tsv", "Eins\tone\n\nZwei\ttwo\n\tthree\n"),
                    by_pair = folder_.write("by_pair", "one\ntoo\n"),
                    by_line = folder_.write("by_line", "one\n\ntoo\nthree\n");
  const auto scores = [&](const std::string& hypothesis, const std::string& reference) {
    Json row = rows({"--hypothesis", hypothesis, "--pairs", pairs, "--reference", reference, "--metrics",
                     "chrf", "--invented", "--known-words", by_line})
                   .at(0);
    row.erase("system");
    return row;
  };
  const Json expected = scores(by_pair, by_pair);
  EXPECT_EQ(expected.at("lines"), 2);
  EXPECT_EQ(expected.at("chrf"), 100);
  EXPECT_EQ(scores(by_line, by_line), expected);
  EXPECT_EQ(scores(by_line, by_pair), expected);
  const std::string longer = folder_.write("longer", "one\n\ntoo\nthree\nfour\n"),
                    has = "2 pairs (4 lines, of which 2 without a pair)";
  expect_failure(evaluate({"--hypothesis", longer, "--pairs", pairs}), 1, {"longer' has 5 lines, but", has});
  expect_failure(evaluate({"--hypothesis", by_pair, "--pairs", pairs, "--reference", longer}), 1,
                 {"longer' has 5 lines, but", has});
}

TEST_F(EvaluateCommand, RefusesConflictingOptions) {
  const std::vector<std::string> one{"--hypothesis", first_, "--reference", reference_};
  const auto refused = [&](std::vector<std::string> more, const std::vector<std::string>& parts) {
    more.insert(more.begin(), one.begin(), one.end());
    expect_failure(evaluate(more), 2, parts);
  };
  refused({"--paired-bs"}, {"at least two"});
  refused({"--hypothesis", second_, "--paired-bs", "--paired-ar"}, {"--paired-bs", "--paired-ar"});
  refused({"--hypothesis", second_, "--paired-bs", "--confidence"}, {"--paired-bs", "--confidence"});
  refused({"--confidence-n", "10"}, {"--confidence-n", "--confidence"});
  refused({"--confidence", "--confidence-n", "0"}, {"--confidence-n"});
  refused({"--metrics", "bleu,meteor"}, {"bleu, chrf, chrf++ and ter", "bleu,meteor"});
  refused({"--metrics", ""}, {"--metrics"});
  refused({"--hypothesis", second_, "--sentence"}, {"--sentence"});
  refused({"--model", folder_.path()}, {"--hypothesis", "--model"});
  refused({"--invented"}, {"--known-words"});
  refused({"--must-contain"}, {"--must-contain", "--pairs"});
  refused({"--must-contain", "--swap"}, {"--must-contain", "--swap"});
  expect_failure(evaluate({"--hypothesis", first_, "--pairs", "a", "--pairs", "b"}), 2, {"one --pairs"});
  expect_failure(evaluate({"--hypothesis", first_, "--reference", reference_, "--tokenize", "flores200"},
                          {.environment = {"SACREBLEU=" + folder_.path("nowhere")}}),
                 1,
                 {folder_.path("nowhere/models/flores200sacrebleuspm"), "tinyurl.com/flores200sacrebleuspm"});
  const std::string longer = folder_.write("longer", to_file(kReference) + "more\n");
  expect_failure(evaluate({"--hypothesis", longer, "--reference", reference_}), 1,
                 {longer, "7 lines", reference_, "6"});
}

TEST_F(EvaluateCommand, RefusesOptionsWithoutEffect) {
  for (const std::vector<std::string>& each : {std::vector<std::string>{"--beam", "2"},
                                               {"--precision", "int8"},
                                               {"--shortlist"},
                                               {"--source-language", "de"},
                                               {"--target-language", "en"}}) {
    std::vector<std::string> options{"--hypothesis", first_, "--reference", reference_};
    options.insert(options.end(), each.begin(), each.end());
    expect_failure(evaluate(options), 2, {each[0], "--hypothesis"});
  }
  expect_failure(evaluate({"--hypothesis", first_, "--reference", reference_, "--swap"}), 2,
                 {"--swap", "give --pairs"});
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--hypothesis", first_, "--reference", reference_});
    return evaluate(std::move(more));
  };
  expect_failure(with({"--metrics", "chrf,ter", "--tokenize", "zh"}), 2,
                 {"--tokenize", "bleu among --metrics"});
  expect_failure(with({"--metrics", "ter", "--lowercase"}), 2, {"--lowercase", "TER always ignores case"});
  expect_failure(with({"--seed", "7"}), 2, {"--seed", "--confidence, --paired-bs or --paired-ar"});
  expect_failure(with({"--seed", "7", "--sentence"}), 2, {"--seed"});
  for (const std::vector<std::string>& each :
       {std::vector<std::string>{"--metrics", "ter,bleu", "--tokenize", "zh"},
        {"--metrics", "ter,chrf", "--lowercase"},
        {"--confidence", "--seed", "7"}}) {
    EXPECT_EQ(with(each).status, 0) << each[0] << " " << each[1];
  }
}

// No model is looked for: what would fail at the end fails before the work.
TEST_F(EvaluateCommand, RefusesFilesBeforeTranslating) {
  const std::string pairs = folder_.write("pairs.tsv", "ja\tyes\n"),
                    target = folder_.write("target", "yes\n"),
                    no_utf8 = folder_.write("q\xff.tsv", "ja\tyes\n"), again = folder_.path("again.tsv");
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--task", "translate", "--model", folder_.path("nowhere")});
    return evaluate(std::move(more));
  };
  std::filesystem::create_hard_link(pairs, again);
  for (const std::vector<std::string>& each :
       {std::vector<std::string>{pairs, "--output", pairs},
        {"--pairs", pairs, "--output", again},
        {"--source", pairs, "--reference", target, "--output", pairs},
        {"--source", pairs, "--reference", target, "--output", target},
        {pairs, "--invented", "--known-words", target, "--output", target}}) {
    expect_failure(with(each), 2, {"'" + each.back() + "' is both an input and --output"});
  }
  EXPECT_EQ(content_of(pairs), "ja\tyes\n");
  expect_failure(with({no_utf8, "--json"}), 1, {"not valid UTF-8"});
  expect_failure(with({no_utf8}), 1, {"nowhere"});                                  // a table can show it
  expect_failure(with({pairs, "--reference", no_utf8, "--json"}), 1, {"nowhere"});  // it is not in the report
}

}  // namespace
}  // namespace heed
