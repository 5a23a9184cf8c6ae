#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>

#include "heed/error.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"
#include "metrics/ter.h"
#include "test_folder.h"
#include "text/test_cases.h"
#include "text/training/sentencepiece_trainer.h"

namespace heed {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

// The reference computes with the same few operations in float64, perhaps in another order, on numbers up to
// 100.
constexpr double kTolerance = 1e-9;

BleuSmoothing smoothing_named(const std::string& name) {
  using enum BleuSmoothing;
  for (const BleuSmoothing smoothing : {kExp, kFloor, kAddK, kNone}) {
    if (bleu_smoothing_name(smoothing) == name) return smoothing;
  }
  throw std::invalid_argument(name);
}

BleuOptions bleu_options(const json& options) {
  BleuOptions result;
  if (options.contains("tokenize"))
    result.tokenizer = parse_bleu_tokenizer(options["tokenize"].get<std::string>());
  if (options.contains("smooth_method")) {
    result.smoothing = smoothing_named(options["smooth_method"].get<std::string>());
  }
  if (options.contains("smooth_value")) result.smoothing_value = options["smooth_value"].get<double>();
  result.lowercase = options.value("lowercase", false);
  result.effective_order = options.value("effective_order", false);
  result.max_order = options.value("max_ngram_order", 4);
  return result;
}

ChrfOptions chrf_options(const json& options) {
  ChrfOptions result;
  result.char_order = options.value("char_order", 6);
  result.word_order = options.value("word_order", 0);
  result.beta = options.value("beta", 2);
  result.lowercase = options.value("lowercase", false);
  result.whitespace = options.value("whitespace", false);
  result.eps_smoothing = options.value("eps_smoothing", false);
  return result;
}

/// The references of one line, as those of a corpus of one line.
std::vector<Lines> references_of(const std::vector<Lines>& references, size_t line) {
  std::vector<Lines> columns;
  for (const Lines& reference : references) columns.push_back({reference[line]});
  return columns;
}

void expect_near(const std::vector<double>& values, const json& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t n = 0; n < values.size(); ++n) EXPECT_NEAR(values[n], expected[n].get<double>(), kTolerance);
}

void check_bleu(const json& row, const Lines& hypotheses, const std::vector<Lines>& references) {
  BleuOptions options = bleu_options(row["options"]);
  const BleuScore score = corpus_bleu(hypotheses, references, options);
  EXPECT_NEAR(score.score, row["score"].get<double>(), kTolerance);
  expect_near(score.precisions, row["precisions"]);
  expect_near(score.counts, row["counts"]);
  expect_near(score.totals, row["totals"]);
  EXPECT_NEAR(score.brevity_penalty, row["brevity_penalty"].get<double>(), kTolerance);
  EXPECT_EQ(score.hypothesis_length, row["hypothesis_length"].get<int64_t>());
  EXPECT_EQ(score.reference_length, row["reference_length"].get<int64_t>());
  EXPECT_EQ(bleu_signature(references.size(), options), row["signature"].get<std::string>());
  options.effective_order = true;
  for (size_t n = 0; n < hypotheses.size(); ++n) {
    EXPECT_NEAR(corpus_bleu({hypotheses[n]}, references_of(references, n), options).score,
                row["sentences"][n].get<double>(), kTolerance)
        << hypotheses[n];
  }
}

void check_chrf(const json& row, const Lines& hypotheses, const std::vector<Lines>& references) {
  const ChrfOptions options = chrf_options(row["options"]);
  const ChrfScore score = corpus_chrf(hypotheses, references, options);
  EXPECT_NEAR(score.score, row["score"].get<double>(), kTolerance);
  if (row.contains("name")) {
    EXPECT_EQ(score.name, row["name"].get<std::string>());
  }
  EXPECT_EQ(chrf_signature(references.size(), options), row["signature"].get<std::string>());
  for (size_t n = 0; n < hypotheses.size(); ++n) {
    EXPECT_NEAR(corpus_chrf({hypotheses[n]}, references_of(references, n), options).score,
                row["sentences"][n].get<double>(), kTolerance)
        << hypotheses[n];
  }
}

void check_ter(const json& row, const Lines& hypotheses, const std::vector<Lines>& references) {
  const TerOptions options{.case_sensitive = row["options"].value("case_sensitive", false)};
  const TerScore score = corpus_ter(hypotheses, references, options);
  EXPECT_NEAR(score.score, row["score"].get<double>(), kTolerance);
  EXPECT_NEAR(score.reference_length, row["reference_length"].get<double>(), kTolerance);
  EXPECT_EQ(ter_signature(references.size(), options), row["signature"].get<std::string>());
  for (size_t n = 0; n < hypotheses.size(); ++n) {
    EXPECT_NEAR(corpus_ter({hypotheses[n]}, references_of(references, n), options).score,
                row["sentences"][n].get<double>(), kTolerance)
        << hypotheses[n];
  }
}

void check_case(const std::filesystem::path& file) {
  const json content = read_json(file);
  const auto hypotheses = content["hypotheses"].get<Lines>();
  const auto references = content["references"].get<std::vector<Lines>>();
  ASSERT_FALSE(content["bleu"].empty());
  ASSERT_FALSE(content["chrf"].empty());
  for (const json& row : content["bleu"]) {
    SCOPED_TRACE(file.string() + " BLEU " + row["options"].dump());
    check_bleu(row, hypotheses, references);
  }
  for (const json& row : content["chrf"]) {
    SCOPED_TRACE(file.string() + " chrF " + row["options"].dump());
    check_chrf(row, hypotheses, references);
  }
  for (const json& row : content.value("ter", json::array())) {
    SCOPED_TRACE(file.string() + " TER " + row["options"].dump());
    check_ter(row, hypotheses, references);
  }
}

TEST(Metrics, EqualSacreBleuOnGoldenCases) {
  const auto files = case_files(golden_folder() / "metrics");
  ASSERT_FALSE(files.empty());
  for (const auto& file : files) check_case(file);
}

TEST(Metrics, EqualSacreBleuOnFixtures) {
  const auto files = case_files(fixtures_folder() / "metrics");
  if (files.empty()) GTEST_SKIP() << "no fixtures in " << fixtures_folder();
  for (const auto& file : files) check_case(file);
}

// "the the the" scores by clipped counts: its precision is 2/3, not 3/3.
TEST(Bleu, ClipsCounts) {
  const BleuScore score = corpus_bleu({"the the the"}, {{"the cat the mat"}}, {.max_order = 1});
  EXPECT_EQ(score.counts, std::vector<double>{2});
  EXPECT_EQ(score.totals, std::vector<double>{3});
  EXPECT_NEAR(score.score, 100 * std::exp(1 - 4.0 / 3) * 2 / 3, kTolerance);
}

// Four words in front of the other four: one shift, where deletions and insertions would be eight edits.
TEST(Ter, AShiftIsOneEdit) {
  const TerScore score = corpus_ter({"e f g h a b c d"}, {{"a b c d e f g h"}});
  EXPECT_EQ(score.edits, 1);
  EXPECT_NEAR(score.score, 100.0 / 8, kTolerance);
}

// Only the band of the table is stored, which has 400 million cells here. The last row, the only one of a
// single word, has all columns from its band on.
TEST(Ter, LongLines) {
  std::string ordered, moved;
  for (int n = 0; n < 20'000; ++n) {
    ordered += std::to_string(n) + " ";
    moved += (n == 3 ? "" : std::to_string(n) + " ") + (n == 9 ? "3 " : "");
  }
  EXPECT_EQ(corpus_ter({moved}, {{ordered}}).edits, 1);
  EXPECT_EQ(corpus_ter({"19999"}, {{ordered}}).edits, 19'999);
  EXPECT_EQ(corpus_ter({ordered}, {{"0"}}).edits, 19'999);
}

TEST(Ter, EmptyTexts) {
  EXPECT_EQ(corpus_ter({""}, {{""}}).score, 0);
  EXPECT_EQ(corpus_ter({"a b"}, {{""}}).score, 100);
  EXPECT_EQ(corpus_ter({""}, {{"a b"}}).score, 100);
}

TEST(Metrics, ErrorsNameTheProblem) {
  const auto kind_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::kNumeric;
  };
  EXPECT_EQ(kind_of([] { corpus_bleu({}, {{}}); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { corpus_bleu({"a"}, {}); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { corpus_chrf({"a", "b"}, {{"a"}}); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { corpus_chrf({"a\xFF"}, {{"a"}}); }), ErrorKind::kText);
  EXPECT_EQ(kind_of([] { corpus_bleu({"a"}, {{"a"}}, {.max_order = 0}); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { parse_bleu_tokenizer("ja-mecab"); }), ErrorKind::kUsage);
  EXPECT_EQ(kind_of([] { corpus_bleu({"a"}, {{"a"}}, {.tokenizer = BleuTokenizer::kFlores200}); }),
            ErrorKind::kUsage);
}

// At the ends of a line "zh" has other rules than "13a": no space is put there first.
TEST(Bleu, ZhSeparatesChineseCharacters) {
  const auto tokens = [](std::string_view text) { return tokenize_for_bleu(text, BleuTokenizer::kZh); };
  EXPECT_EQ(tokens("我喜欢U.S.A. 3.14"), (Lines{"我", "喜", "欢", "U", ".", "S", ".", "A", ".", "3.14"}));
  EXPECT_EQ(tokens("a“b”—c"), (Lines{"a", "“", "b", "”", "—", "c"}));
  EXPECT_EQ(tokens("in 1990."), (Lines{"in", "1990."}));
  EXPECT_EQ(tokenize_for_bleu("in 1990.", BleuTokenizer::k13a), (Lines{"in", "1990", "."}));
}

TEST(Bleu, FloresNeedsItsModelFile) {
  const TestFolder folder;
  ::setenv("SACREBLEU", folder.path().c_str(), 1);
  try {
    load_bleu_pieces(BleuTokenizer::kFlores101);
    ADD_FAILURE() << "there is no model";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
    EXPECT_THAT(error.what(), testing::HasSubstr(folder.path("models/sacrebleu_tokenizer_spm.model")));
  }
  std::filesystem::create_directory(folder.path("models"));
  SentencePieceTrainOptions options{.vocabulary_size = 60, .byte_fallback = false};
  int line = 0;
  folder.write("models/flores200sacrebleuspm", train_sentencepiece(options, [&](std::string& text) {
                 text = "the cat and the dog";
                 return ++line < 50;
               }));
  const BleuOptions flores{.tokenizer = BleuTokenizer::kFlores200,
                           .pieces = load_bleu_pieces(BleuTokenizer::kFlores200)};
  ::unsetenv("SACREBLEU");
  EXPECT_FALSE(load_bleu_pieces(BleuTokenizer::k13a));
  const std::string all =
      fmt::format("{}", fmt::join(tokenize_for_bleu("the cat", flores.tokenizer, &*flores.pieces), ""));
  EXPECT_EQ(all, "\u2581the\u2581cat");
  EXPECT_NEAR(corpus_bleu({"the cat and"}, {{"the cat and"}}, flores).score, 100, kTolerance);
  EXPECT_EQ(bleu_signature(1, flores), "nrefs:1|case:mixed|eff:no|tok:flores200|smooth:exp|version:2.6.0");
}

}  // namespace
}  // namespace heed
