// Effects of activation patching equal those of PyTorch hooks (tests/data/patching).

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "inspect/patching/patching.h"
#include "inspect/test_inspected_models.h"
#include "models/directory/loaded_model.h"
#include "paths.h"

namespace heed {
namespace {

using Json = nlohmann::json;

/// Both are f in float32 through some ten layers, with f rounded to 2e-6 of its size.
void expect_effects(const PatchMap& found, const Json& expected, double tolerance) {
  ASSERT_EQ(found.rows.size(), expected.size());
  size_t n = 0;
  for (const Json& row : expected) {
    ASSERT_EQ(row.size(), found.columns.size());
    for (const Json& effect : row) {
      const float value = found.effects[n++];
      EXPECT_EQ(std::isnan(value), effect.is_null());
      if (!effect.is_null()) {
        EXPECT_NEAR(value, effect.get<double>(), tolerance * (1 + std::abs(effect.get<double>())));
      }
    }
  }
}

class PatchingReference : public ::testing::TestWithParam<const char*> {};

TEST_P(PatchingReference, EqualsHooks) {
  const std::string folder = source_folder() + "/tests/data/patching/" + GetParam();
  const models::LoadedModel loaded = models::load_model(folder);
  const ModelTokenizer tokenizer = id_tokenizer(24, -1);
  const InspectedModel model{.loaded = loaded, .tokenizer = &tokenizer};
  ThreadPool pool(2);
  const Json cases = Json::parse(read_file(folder + "/cases.json"));
  ASSERT_EQ(cases.size(), 2u);
  for (const Json& each : cases) {
    const auto target = each["target"].get<std::vector<int32_t>>();
    const auto read = [&](size_t n) {
      return reading_of_ids(*loaded.model, each["texts"][n].get<std::vector<int32_t>>(), target);
    };
    for (const PatchedPart what : {PatchedPart::kHeads, PatchedPart::kLayers, PatchedPart::kPositions}) {
      SCOPED_TRACE(each["case"].get<std::string>() + ", " + patched_part_name(what));
      const Patching found = patch(model, read(0), read(1), {.what = what}, pool);
      const double clean = each["clean"], corrupted = each["corrupted"];
      EXPECT_NEAR(found.clean, clean, 2e-6 * std::abs(clean));
      EXPECT_NEAR(found.corrupted, corrupted, 2e-6 * std::abs(corrupted));
      const double tolerance = 2e-6 * (std::abs(clean) + std::abs(corrupted)) / std::abs(clean - corrupted);
      const Json& effects = each["effects"][patched_part_name(what)];
      expect_effects(found.encoder, effects["encoder"], tolerance);
      expect_effects(found.decoder, effects["decoder"], tolerance);
      expect_effects(found.cross, effects["cross"], tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PatchingReference, ::testing::Values("marian", "gpt2", "bert"));

}  // namespace
}  // namespace heed
