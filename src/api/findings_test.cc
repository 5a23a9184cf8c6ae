// Findings of an Inspector that the caller has made or changed are written and drawn, or are an error.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "heed/error.h"
#include "heed/inspector.h"
#include "heed/picture.h"
#include "test_folder.h"

namespace heed {
namespace {

constexpr float kInfiniteEffect = std::numeric_limits<float>::infinity();

Lens small_lens() {
  LensState state{.part = "embedding",
                  .width = 2,
                  .values = {1, 2, 3, 4},
                  .norms = {1, 2},
                  .added_norms = {},
                  .predictions = {{{"x", 0.5}}, {{"y", 0.5}}},
                  .expected = {0.5F, 0.5F}};
  Lens lens{.expected_tokens = {"x", "y"}};
  lens.decoder = {.tokens = {"a", "b"}, .ids = {1, 2}, .states = {state}};
  return lens;
}

Attribution small_attribution() {
  Attribution attribution{.source_tokens = {"a"}, .target_tokens = {"x", "y"}};
  attribution.tokens = {{.token = 1, .values = {1, 2}, .sum = 3}};
  return attribution;
}

Patching small_patching() {
  Patching patching{.source_tokens = {"a"}, .other_tokens = {"b"}, .target_tokens = {"x"}};
  patching.counterparts = {0};
  patching.tokens = {0};
  patching.encoder = {{"1", "2"}, {"1"}, {0.5F, std::numeric_limits<float>::quiet_NaN()}};
  return patching;
}

/// `finding`, changed in one way, is the error of all that writes or draws it.
template <typename Finding, typename Write>
void expect_error_of(const Finding& finding, ErrorKind kind, const std::string& text,
                     const std::function<void(Finding&)>& change, const std::vector<Write>& writers) {
  Finding changed = finding;
  change(changed);
  for (const Write& write : writers) {
    EXPECT_NO_THROW(write(finding));
    expect_error(kind, text, [&] { write(changed); });
  }
}

TEST(PublicFindings, OfALensMatch) {
  const TestFolder folder;
  using Write = std::function<void(const Lens&)>;
  const std::vector<Write> writers{[](const Lens& lens) { lens_json(lens, true); },
                                   [](const Lens& lens) { lens_text(lens); },
                                   [](const Lens& lens) { lens_token_text(lens, "2"); },
                                   [&](const Lens& lens) { save_lens(folder.path("l.svg"), lens); }};
  const auto expect = [&](const std::string& text, const std::function<void(LensState&)>& change) {
    const auto of_lens = [&](Lens& lens) { change(lens.decoder.states[0]); };
    expect_error_of<Lens, Write>(small_lens(), ErrorKind::kShape, text, of_lens, writers);
  };
  expect("state 1: values has 1 entries, not 4", [](LensState& state) { state.values = {1}; });
  expect("width cannot be -2", [](LensState& state) { state.width = -2; });
  expect("norms has 0 entries, not 2", [](LensState& state) { state.norms = {}; });
  expect("added_norms", [](LensState& state) { state.added_norms = {1}; });
  expect("heads", [](LensState& state) { state.heads = {1, 2, 3}; });
  expect("added", [](LensState& state) { state.added = {1, 2, 3}; });
  expect("log_sums", [](LensState& state) { state.log_sums = {1}; });
  expect("predictions has 1 entries", [](LensState& state) { state.predictions.resize(1); });
  expect("predictions of a token are empty", [](LensState& state) { state.predictions[1].clear(); });
  expect("expected has 0", [](LensState& state) { state.expected = {}; });
  const auto expect_of_all = [&](const std::string& text, const std::function<void(Lens&)>& change) {
    expect_error_of<Lens, Write>(small_lens(), ErrorKind::kShape, text, change, writers);
  };
  expect_of_all("expected_tokens has 1 entries, not 2", [](Lens& lens) { lens.expected_tokens = {"x"}; });
  expect_of_all("ids has 1", [](Lens& lens) { lens.decoder.ids = {1}; });
  expect_of_all("embeddings", [](Lens& lens) { lens.decoder.embeddings = {1}; });
}

TEST(PublicFindings, OfAnAttributionMatch) {
  const TestFolder folder;
  using Write = std::function<void(const Attribution&)>;
  const std::vector<Write> writers{
      [](const Attribution& each) { attribution_json(each); },
      [](const Attribution& each) { attribution_text(each); },
      [&](const Attribution& each) { save_attribution(folder.path("a.svg"), each); }};
  const auto expect = [&](ErrorKind kind, const std::string& text,
                          const std::function<void(TokenAttribution&)>& change) {
    const auto of_all = [&](Attribution& all) { change(all.tokens[0]); };
    expect_error_of<Attribution, Write>(small_attribution(), kind, text, of_all, writers);
  };
  expect(ErrorKind::kShape, "index 2 of 2", [](TokenAttribution& each) { each.token = 2; });
  expect(ErrorKind::kShape, "index -1 of 2", [](TokenAttribution& each) { each.token = -1; });
  expect(ErrorKind::kShape, "token 2: values has 4", [](TokenAttribution& each) { each.values.resize(4); });
  expect(ErrorKind::kNumeric, "inf", [](TokenAttribution& each) { each.values[0] = kInfiniteEffect; });
  expect(ErrorKind::kNumeric, "inf", [](TokenAttribution& each) { each.sum = kInfiniteEffect; });
  for (const int columns : {39, 0, -1}) {
    expect_error(ErrorKind::kUsage, "use at least 40",
                 [&] { attribution_text(small_attribution(), columns); });
  }
}

TEST(PublicFindings, OfAPatchingMatch) {
  const TestFolder folder;
  using Write = std::function<void(const Patching&)>;
  const std::vector<Write> writers{[](const Patching& each) { patching_json(each); },
                                   [](const Patching& each) { patching_text(each); },
                                   [&](const Patching& each) { save_patching(folder.path("p.svg"), each); }};
  const auto expect = [&](ErrorKind kind, const std::string& text,
                          const std::function<void(Patching&)>& change) {
    expect_error_of<Patching, Write>(small_patching(), kind, text, change, writers);
  };
  expect(ErrorKind::kShape, "effects has 1 entries, not 2", [](Patching& all) { all.encoder.effects = {1}; });
  expect(ErrorKind::kShape, "effects has 2 entries, not 0", [](Patching& all) { all.encoder.columns = {}; });
  expect(ErrorKind::kShape, "tokens: there is no token with the index 1",
         [](Patching& all) { all.tokens = {1}; });
  expect(ErrorKind::kShape, "counterparts", [](Patching& all) { all.counterparts = {1}; });
  expect(ErrorKind::kShape, "counterparts", [](Patching& all) { all.counterparts = {-2}; });
  expect(ErrorKind::kNumeric, "inf", [](Patching& all) { all.encoder.effects[0] = kInfiniteEffect; });
}

}  // namespace
}  // namespace heed
