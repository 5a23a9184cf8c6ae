// heed lens, heed attribute and heed patch.

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "tiny_model.h"

namespace heed {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

CommandResult look(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--model", tiny_model()});
  return heed_command(arguments);
}

Json look_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "--quiet"});
  const CommandResult result = look(arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return Json::parse(result.out);
}

class InspectCommands : public ::testing::Test {
 protected:
  std::string text_ = tiny_pairs(1, 17)[0].source;
  TestFolder folder_;
};

TEST_F(InspectCommands, LensHasHiddenStatesOfBothStacks) {
  const Json lens = look_json({"lens", text_, "--details"});
  for (const char* stack : {"encoder", "decoder"}) {
    const Json& hidden = lens["hidden"][stack];
    ASSERT_GE(hidden.size(), 2u) << stack;
    for (const Json& step : hidden) EXPECT_EQ(step.size(), lens["tokens"][stack].size());
  }
  EXPECT_EQ(lens["predictions"].size(), lens["hidden"]["decoder"].size());
  // The model's own translation is what its last state predicts, but for what a search finds beyond that.
  const Json& last = lens["predictions"].back();
  size_t same = 0;
  for (size_t n = 0; n < last.size(); ++n) same += last[n][0]["token"] == lens["expected_tokens"][n] ? 1 : 0;
  EXPECT_GT(2 * same, last.size());
}

TEST_F(InspectCommands, LensInTheTerminalAndAsAPicture) {
  EXPECT_THAT(look({"lens", text_}).out, HasSubstr("cross-attention"));
  EXPECT_THAT(look({"lens", text_, "--query", "1"}).out, HasSubstr("likeliest tokens"));
  EXPECT_THAT(look({"lens", text_, "--stack", "encoder"}).out, HasSubstr("the norm of each token's vector"));
  const std::string file = folder_.path("lens.svg");
  EXPECT_EQ(look({"lens", text_, "--output", file}).status, 0);
  EXPECT_THAT(read_file(file), HasSubstr("<svg"));
  EXPECT_EQ(look({"lens", text_, "--details"}).status, 2);
  expect_failure(look({"lens", text_, "--query", "1", "--output", file}), 2, {"--query", "--output"});
  expect_failure(look({"lens", text_, "--query", "1", "--json"}), 2, {"--query", "--json"});
  EXPECT_EQ(look({"lens", " "}).status, 2);
}

TEST_F(InspectCommands, AttributionsSumToTheDifference) {
  const Json found = look_json({"attribute", text_});
  const size_t sources = found["source_tokens"].size();
  ASSERT_EQ(found["attributions"].size(), found["target_tokens"].size());
  for (size_t n = 0; n < found["attributions"].size(); ++n) {
    EXPECT_EQ(found["attributions"][n].size(), sources + n);
    double sum = 0;
    for (const double value : found["attributions"][n]) sum += value;
    const double difference = found["difference"][n];
    EXPECT_NEAR(sum, difference, 0.01 * std::max(0.1, std::abs(difference)));
  }
  EXPECT_EQ(look_json({"attribute", text_, "--threads", "1"}), found);
}

TEST_F(InspectCommands, AttributionInTheTerminalAndAsAPicture) {
  EXPECT_THAT(look({"attribute", text_, "--method", "gradient"}).out, HasSubstr("ln P"));
  EXPECT_THAT(look({"attribute", text_, "--token", "1", "--method", "leave-out"}).out,
              HasSubstr("what speaks for"));
  const std::string file = folder_.path("why.svg");
  EXPECT_EQ(look({"attribute", text_, "--method", "rollout", "--output", file}).status, 0);
  EXPECT_THAT(read_file(file), HasSubstr("<svg"));
  const CommandResult wrong = look({"attribute", text_, "--instead", "x"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("choose it by its number"));
  expect_failure(look({"attribute", text_, "--method", "gradient", "--tolerance", "0.5"}), 2,
                 {"--tolerance is for --method integrated"});
}

TEST_F(InspectCommands, PatchingShowsWhatCarriesADifference) {
  const std::string other = tiny_pairs(2, 17)[1].source;
  ASSERT_NE(other, text_);
  for (const char* what : {"heads", "layers", "positions"}) {
    const Json found = look_json({"patch", text_, other, "--what", what});
    EXPECT_GT(found["clean"].get<double>(), found["corrupted"].get<double>());
    EXPECT_EQ(found["what"], what);
    for (const char* stack : {"encoder", "decoder"}) {
      const Json& effects = found["effects"][stack];
      ASSERT_EQ(effects.size(), found["rows"][stack].size()) << what;
      ASSERT_FALSE(effects.empty()) << what;
      for (const Json& row : effects) EXPECT_EQ(row.size(), found["columns"][stack].size()) << what;
    }
    EXPECT_EQ(look_json({"patch", text_, other, "--what", what, "--threads", "1"}), found);
  }
}

TEST_F(InspectCommands, PatchingInTheTerminalAndAsAPicture) {
  const std::string other = tiny_pairs(2, 17)[1].source;
  EXPECT_THAT(look({"patch", text_, other}).out, HasSubstr("heads of cross-attention"));
  EXPECT_THAT(look({"patch", text_, other, "--what", "positions", "--token", "1"}).out,
              HasSubstr("largest effects"));
  const std::string file = folder_.path("patch.svg");
  EXPECT_EQ(look({"patch", text_, other, "--what", "layers", "--output", file}).status, 0);
  EXPECT_THAT(read_file(file), HasSubstr("<svg"));
  const CommandResult same = look({"patch", text_, text_});
  EXPECT_EQ(same.status, 2);
  EXPECT_THAT(same.err, HasSubstr("the same tokens"));
  EXPECT_EQ(look({"patch", text_, " "}).status, 2);
  EXPECT_EQ(look({"patch", text_}).status, 2);
}

}  // namespace
}  // namespace heed
