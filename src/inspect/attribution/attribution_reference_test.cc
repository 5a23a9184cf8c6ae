// Attributions equal those of captum (tests/data/attribution).

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "inspect/attribution/attribution.h"
#include "inspect/test_inspected_models.h"
#include "models/directory/loaded_model.h"
#include "paths.h"

namespace heed {
namespace {

using Json = nlohmann::json;

/// The lists of the stacks as one, without the start token of a translation, which is not in Heed's.
std::vector<double> values_of(const Json& stacks) {
  std::vector<double> values;
  for (size_t stack = 0; stack < stacks.size(); ++stack) {
    const auto list = stacks[stack].get<std::vector<double>>();
    values.insert(values.end(), list.begin() + (stack == 0 ? 0 : 1), list.end());
  }
  return values;
}

/// `tolerance`: a share of the sum of all magnitudes.
void expect_values(const TokenAttribution& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.values.size(), expected.size());
  double total = 0;
  for (const double each : expected) total += std::abs(each);
  for (size_t n = 0; n < expected.size(); ++n) {
    EXPECT_NEAR(static_cast<double>(found.values[n]), expected[n], tolerance * total) << n;
  }
}

class AttributionReference : public ::testing::TestWithParam<const char*> {};

TEST_P(AttributionReference, EqualsCaptum) {
  const std::string tests = source_folder() + "/tests/data/";
  const models::LoadedModel loaded = models::load_model(tests + "patching/" + GetParam());
  const ModelTokenizer tokenizer = id_tokenizer(24, -1);
  const InspectedModel model{.loaded = loaded, .tokenizer = &tokenizer};
  ThreadPool pool(2);
  for (const Json& each : Json::parse(read_file(tests + "attribution/" + GetParam() + ".json"))) {
    const auto target = each["target"].get<std::vector<int32_t>>();
    const Reading reading = reading_of_ids(*loaded.model, each["source"].get<std::vector<int32_t>>(), target);
    const std::string baseline = std::to_string(each["baseline"].get<int>());
    const bool has_other = !each["other"].is_null();
    for (size_t n = 0; n < target.size(); ++n) {
      const Json& expected = each["predictions"][n];
      SCOPED_TRACE(std::to_string(n) + (has_other ? ", with an alternative" : ""));
      AttributionOptions options{.token = std::to_string(n + 1), .baseline = baseline};
      // An alternative is named by its label or token.
      if (has_other) {
        const int other = each["other"];
        options.instead = loaded.model->task() == models::Task::kClassification
                              ? loaded.classifier().labels()[static_cast<size_t>(other)]
                              : std::to_string(other);
      }
      const TokenAttribution usual = attribute(model, reading, options, pool).tokens[0];
      EXPECT_NEAR(usual.log_probability, expected["value"].get<double>(), 2e-5);
      EXPECT_NEAR(*usual.difference, expected["difference"].get<double>(), 4e-5);
      EXPECT_NEAR(usual.sum, *usual.difference, 1e-5 * (1 + std::abs(*usual.difference)));
      expect_values(usual, values_of(expected["integrated"]), 0.06);
      options.tolerance = 0.0005;
      expect_values(attribute(model, reading, options, pool).tokens[0], values_of(expected["integrated"]),
                    0.001);
      options.method = AttributionMethod::kGradient;
      options.baseline = "";
      expect_values(attribute(model, reading, options, pool).tokens[0], values_of(expected["gradient"]),
                    1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, AttributionReference, ::testing::Values("marian", "gpt2", "bert"));

}  // namespace
}  // namespace heed
