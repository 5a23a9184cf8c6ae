#include "metrics/significance.h"

#include <gtest/gtest.h>

#include <array>

#include "heed/error.h"
#include "metrics/numpy_random.h"
#include "text/test_cases.h"

namespace heed {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

// sacreBLEU keeps sums and scores of resamples in float32.
constexpr double kProbabilityTolerance = 1e-4;

// numpy.random.default_rng(12345): random_raw() as two halves, then integers(0, limit).
TEST(NumpyRandom, GivesNumpysNumbers) {
  NumpyRandom random(12345);
  for (const uint32_t expected : {699, 227, 788, 316, 204, 797}) EXPECT_EQ(random.below(1000), expected);
  NumpyRandom other(12345);
  const uint32_t bits = other.next_32();
  constexpr std::array kBooleans{true, false, true, true, true, false, false, true, true, false};
  for (size_t n = 0; n < kBooleans.size(); ++n) EXPECT_EQ((bits >> n & 1) != 0, kBooleans[n]) << n;
  EXPECT_EQ(other.below(1), 0u);  // draws nothing
  for (const uint32_t expected : {1, 5, 2, 1, 5}) EXPECT_EQ(other.below(7), expected);
}

Metric metric_named(const std::string& name, size_t references) {
  if (name == "BLEU") return bleu_metric(references);
  if (name == "chrF2") return chrf_metric(references);
  return ter_metric(references);
}

void check_paired(const json& row, const Lines& hypotheses, const std::vector<Lines>& references) {
  const auto baseline = row["baseline"].get<Lines>();
  const auto test = row["test"].get<std::string>();
  const int samples = row["samples"].get<int>();
  const ResamplingOptions options{.resamples = samples, .trials = samples};
  for (const auto& [name, expected] : row["scores"].items()) {
    SCOPED_TRACE(name + " " + test);
    const Metric metric = metric_named(name, references.size());
    EXPECT_EQ(metric.name, name);
    EXPECT_EQ(with_test(metric.signature, test, samples, options.seed),
              expected["signature"].get<std::string>());
    const LineStatistics first = line_statistics(metric, baseline, references),
                         second = line_statistics(metric, hypotheses, references);
    const auto check_system = [&](const LineStatistics& lines, const json& system) {
      EXPECT_NEAR(score_of(metric, lines), system["score"].get<double>(), kProbabilityTolerance);
      if (system["mean"].is_null()) return;
      const ConfidenceInterval interval = bootstrap_interval(metric, lines, options);
      EXPECT_NEAR(interval.mean, system["mean"].get<double>(), kProbabilityTolerance);
      EXPECT_NEAR(interval.half_width, system["ci"].get<double>(), kProbabilityTolerance);
    };
    check_system(first, expected["baseline"]);
    check_system(second, expected["system"]);
    const double p = test == "bs" ? paired_bootstrap(metric, first, second, options)
                                  : paired_approximate_randomization(metric, first, second, options);
    EXPECT_NEAR(p, expected["p_value"].get<double>(), 1e-12);
  }
}

TEST(Significance, EqualsSacreBleuOnGoldenCases) {
  size_t rows = 0;
  for (const auto& file : case_files(golden_folder() / "metrics")) {
    const json content = read_json(file);
    for (const json& row : content.value("paired", json::array())) {
      SCOPED_TRACE(file.string());
      check_paired(row, content["hypotheses"].get<Lines>(), content["references"].get<std::vector<Lines>>());
      ++rows;
    }
  }
  EXPECT_GT(rows, 0u);
}

// A system against itself differs by nothing, which no trial exceeds: p is as small as so many trials allow.
// That is sacreBLEU's convention; what counts is that a real difference is not drowned by it.
TEST(Significance, LinesMustBeTheSame) {
  const Metric metric = bleu_metric(1);
  const LineStatistics two = line_statistics(metric, {"a", "b"}, {{"a", "b"}}),
                       one(two.begin(), two.begin() + 1);
  EXPECT_THROW(paired_bootstrap(metric, two, one), Error);
  EXPECT_THROW(paired_approximate_randomization(metric, one, two), Error);
}

}  // namespace
}  // namespace heed
