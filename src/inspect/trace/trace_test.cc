#include "inspect/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/error.h"
#include "inspect/json/trace_json.h"
#include "inspect/json/trace_pack.h"
#include "inspect/terminal/words.h"
#include "inspect/trace/test_traces.h"
#include "models/head_names.h"
#include "paths.h"
#include "test_folder.h"

namespace heed {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Trace example() {
  return testing::make_trace({"\u2581Das", "\u2581H", "aus", ".", "</s>"},
                             {"\u2581The", "\u2581hou", "se", "</s>"}, 2, 3);
}

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::kUsage;
}

std::vector<double> row_sums(const AttentionMatrix& matrix) {
  std::vector<double> sums(matrix.queries);
  for (int query = 0; query < matrix.queries; ++query) {
    for (int key = 0; key < matrix.keys; ++key) sums[query] += static_cast<double>(matrix.at(query, key));
  }
  return sums;
}

TEST(Trace, ChecksSizesAndNumbers) {
  EXPECT_NO_THROW(check_trace(example()));
  Trace trace = example();
  trace.cross[1][2].weights[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kind_of([&] { check_trace(trace); }), ErrorKind::kNumeric);
  trace = example();
  trace.encoder[0][0].weights[3] = -0.01F;
  EXPECT_EQ(kind_of([&] { check_trace(trace); }), ErrorKind::kNumeric);
  trace = example();
  trace.source_tokens.pop_back();
  EXPECT_EQ(kind_of([&] { check_trace(trace); }), ErrorKind::kShape);
  EXPECT_EQ(kind_of([&] { check_trace(Trace{}); }), ErrorKind::kUsage);
}

TEST(Trace, ChecksTheSizesOfDetails) {
  const Trace trace = example();
  const size_t queries = trace.target_tokens.size(), keys = trace.source_tokens.size();
  const auto floats = [](size_t count) { return std::vector<float>(count, 0.5F); };
  const HeadDetail whole{.width = 3,
                         .query = floats(queries * 3),
                         .key = floats(keys * 3),
                         .value = floats(keys * 3),
                         .scores = floats(queries * keys),
                         .bias = floats(queries * keys),
                         .visible = std::vector<uint8_t>(queries * keys, 1)};
  const auto check = [&](const std::function<void(HeadDetail&)>& change) {
    Trace changed = trace;
    auto& details = changed.details[static_cast<size_t>(Stack::kCross)];
    details = {{HeadDetail{}, whole}};
    change(details[0][1]);
    check_trace(changed);
  };
  EXPECT_NO_THROW(check([](HeadDetail&) {}));
  for (const auto& change : std::vector<std::function<void(HeadDetail&)>>{
           [](HeadDetail& detail) { detail.query = {}; }, [](HeadDetail& detail) { detail.key.pop_back(); },
           [](HeadDetail& detail) { detail.value.push_back(0); },
           [](HeadDetail& detail) { detail.scores = {1}; }, [](HeadDetail& detail) { detail.bias = {1}; },
           [](HeadDetail& detail) { detail.visible = {1}; }, [](HeadDetail& detail) { detail.width = 4; },
           [](HeadDetail& detail) { detail.width = -1; }}) {
    EXPECT_EQ(kind_of([&] { check(change); }), ErrorKind::kShape);
  }
}

TEST(Trace, ErrorsNameTheMatrix) {
  Trace trace = example();
  trace.cross[1][2].weights[7] = 2;  // 5 keys: query 2, key 3
  try {
    check_trace(trace);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cross layer 2 head 3"));
    EXPECT_THAT(error.what(), HasSubstr("query 2 for key 3 is 2"));
  }
}

TEST(Trace, DecoderKeysAreItsInput) {
  Trace trace = example();
  EXPECT_THAT(key_tokens(trace, Stack::kDecoder), ElementsAre("<s>", "\u2581The", "\u2581hou", "se"));
  trace.decoder_tokens = {"a", "b", "c", "d"};
  EXPECT_THAT(key_tokens(trace, Stack::kDecoder), ElementsAre("a", "b", "c", "d"));
}

// "Once upon a" and the likeliest next token.
TEST(Trace, QueriesOfALanguageModelAreTheTokensItReads) {
  Trace trace;
  trace.decoder_tokens = {"\u2581Once", "\u2581up", "on"};
  trace.target_tokens = {"\u2581up", "on", "\u2581a"};
  trace.decoder = {{{3, 3, {1, 0, 0, 0.5F, 0.5F, 0, 0.25F, 0.25F, 0.5F}}}};
  EXPECT_THAT(query_tokens(trace, Stack::kDecoder), ElementsAre("\u2581Once", "\u2581up", "on"));
  EXPECT_EQ(query_tokens(trace, Stack::kDecoder), key_tokens(trace, Stack::kDecoder));
  EXPECT_STREQ(axis_texts(trace, Stack::kDecoder).first, "text");
  const Trace words = group_by_words(trace);
  EXPECT_THAT(query_tokens(words, Stack::kDecoder), ElementsAre("Once", "upon"));
  const AttentionMatrix& head = words.decoder[0][0];
  EXPECT_EQ(head.queries, 2);
  EXPECT_FLOAT_EQ(head.at(0, 0), 1);
  EXPECT_FLOAT_EQ(head.at(1, 1), (0.5F + 0.75F) / 2);
  trace.source_tokens = {"a"};
  EXPECT_THAT(query_tokens(trace, Stack::kDecoder), ElementsAre("\u2581up", "on", "\u2581a"))
      << "the control: a translation's queries produce the target";
}

TEST(Select, KeepsIndices) {
  const Trace trace = example();
  const Trace chosen = select(trace, parse_selection("cross", "2", "3"));
  EXPECT_TRUE(chosen.encoder.empty());
  ASSERT_EQ(chosen.cross.size(), 2U);
  EXPECT_TRUE(chosen.cross[0].empty());
  ASSERT_EQ(chosen.cross[1].size(), 3U);
  EXPECT_TRUE(chosen.cross[1][0].empty());
  EXPECT_EQ(chosen.cross[1][2].weights, trace.cross[1][2].weights);
}

TEST(Select, RefusesMissingLayersAndHeads) {
  const Trace trace = example();
  const std::vector<std::array<const char*, 3>> choices{
      {"cross", "3", "all"}, {"cross", "all", "4"},
      {"mixed", "1", "1"},   {"all", "0", "all"},
      {"all", "1x", "all"},  {"all", "all", "-1"},
      {"all", "all", ""},    {"all", "99999999999999999999", "all"}};
  for (const auto& choice : choices) {
    const auto call = [&] { select(trace, parse_selection(choice[0], choice[1], choice[2])); };
    EXPECT_EQ(kind_of(call), ErrorKind::kUsage) << choice[0] << " " << choice[1] << " " << choice[2];
  }
  Trace encoder_only = trace;
  encoder_only.cross.clear();
  EXPECT_EQ(kind_of([&] { select(encoder_only, parse_selection("cross", "all", "all")); }),
            ErrorKind::kUsage);
}

TEST(Select, ErrorsListTheStacks) {
  Trace recurrent = example();
  recurrent.encoder.clear();
  recurrent.decoder.clear();
  expect_error(ErrorKind::kUsage, "no encoder attention: choose another stack (cross)",
               [&] { select(recurrent, parse_selection("encoder", "all", "all")); });
}

TEST(Mean, IsTheMean) {
  const Trace trace = example();
  const Trace mean = mean_over_heads(trace);
  ASSERT_EQ(mean.cross[1].size(), 1U);
  EXPECT_TRUE(mean.heads_averaged);
  for (size_t n = 0; n < mean.cross[1][0].weights.size(); ++n) {
    const auto& heads = trace.cross[1];
    EXPECT_FLOAT_EQ(mean.cross[1][0].weights[n],
                    (heads[0].weights[n] + heads[1].weights[n] + heads[2].weights[n]) / 3);
  }
}

AttentionMatrix matrix_of(const nlohmann::json& rows) {
  AttentionMatrix matrix;
  matrix.queries = static_cast<int>(rows.size());
  for (const nlohmann::json& row : rows) {
    const auto weights = row.get<std::vector<float>>();
    matrix.keys = static_cast<int>(weights.size());
    matrix.weights.insert(matrix.weights.end(), weights.begin(), weights.end());
  }
  return matrix;
}

/// The trace that trace_to_json writes.
Trace trace_of(const nlohmann::json& json) {
  Trace trace;
  trace.model = json.at("model");
  trace.source = json.at("source");
  trace.target = json.at("target");
  json.at("source_tokens").get_to(trace.source_tokens);
  json.at("target_tokens").get_to(trace.target_tokens);
  trace.decoder_tokens = json.value("decoder_tokens", std::vector<std::string>{});
  trace.source_words = json.value("source_words", std::vector<int>{});
  trace.decoder_words = json.value("decoder_words", std::vector<int>{});
  trace.word_pieces = json.value("word_pieces", false);
  for (const Stack stack : kStacks) {
    for (const nlohmann::json& layer : json.at("attention").at(stack_name(stack))) {
      auto& heads = stack_of(trace, stack).emplace_back();
      for (const nlohmann::json& head : layer) heads.push_back(matrix_of(head));
    }
  }
  check_trace(trace);
  return trace;
}

HeadDetail detail_of(const nlohmann::json& json) {
  if (json.is_null()) return {};
  const auto numbers = [&](const char* name) {
    return matrix_of(json.value(name, nlohmann::json{})).weights;
  };
  const std::vector<float> visible = numbers("visible");
  return {.width = json.at("width"),
          .scale = json.at("scale"),
          .query = numbers("query"),
          .key = numbers("key"),
          .value = numbers("value"),
          .scores = numbers("scores"),
          .cap = json.value("cap", 0.0F),
          .bias = numbers("bias"),
          .visible = {visible.begin(), visible.end()}};
}

/// Cases that the explorer's test reads, too.
TEST(TracePack, OfTheSharedCases) {
  std::ifstream file(source_folder() + "/tests/data/packed_traces.json");
  for (nlohmann::json each : nlohmann::json::parse(file)) {
    Trace trace = trace_of(each["trace"]);
    if (each["trace"].contains("details")) {
      auto& heads = trace.details[static_cast<size_t>(Stack::kCross)].emplace_back();
      for (const nlohmann::json& head : each["trace"]["details"]["cross"][0])
        heads.push_back(detail_of(head));
    }
    nlohmann::json found = nlohmann::json::parse(pack_trace(trace))["packed"];
    // Logarithms of different libraries may differ in the last bit.
    nlohmann::json &head = found["cross"][0][0], &expected = each["packed"]["cross"][0][0];
    EXPECT_EQ(head.contains("rows"), expected.contains("rows"));
    if (head.contains("rows") && expected.contains("rows")) {
      EXPECT_THAT(testing::from_base64<float>(head["rows"]),
                  Pointwise(FloatNear(1e-6F), testing::from_base64<float>(expected["rows"])));
      expected["rows"] = head["rows"];
    }
    EXPECT_EQ(found, each["packed"]) << each["name"];
  }
}

/// Cases that the explorer's test reads, too.
TEST(DefaultLayer, OfTheSharedCases) {
  std::ifstream file(source_folder() + "/tests/data/default_layers.json");
  for (const nlohmann::json& each : nlohmann::json::parse(file)) {
    Trace trace = trace_of(each["trace"]);
    const Stack stack = *parse_selection(each["stack"], "all", "all").stack;
    EXPECT_EQ(default_layer(trace, stack), each["layer"].get<int>()) << each["name"];
    stack_of(trace, stack).clear();
    EXPECT_EQ(default_layer(trace, stack), -1);
  }
}

TEST(Words, BeginAtMarkersAndSpecialTokens) {
  EXPECT_THAT(word_indices({"\u2581Das", "\u2581H", "aus", ".", "</s>"}), ElementsAre(0, 1, 1, 1, 2));
  EXPECT_THAT(word_indices({"<s>", "a", "b", "</s>"}), ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(word_indices({}), ElementsAre());
}

/// Cases that the explorer's test reads, too.
TEST(Words, OfTheSharedCases) {
  std::ifstream file(source_folder() + "/tests/data/word_groups.json");
  for (const nlohmann::json& each : nlohmann::json::parse(file)) {
    const Trace words = group_by_words(trace_of(each["trace"]));
    const nlohmann::json& expected = each["words"];
    EXPECT_EQ(nlohmann::json(words.source_tokens), expected["source_tokens"]) << each["name"];
    EXPECT_EQ(nlohmann::json(words.target_tokens), expected["target_tokens"]) << each["name"];
    EXPECT_EQ(nlohmann::json(words.decoder_tokens), expected["decoder_tokens"]) << each["name"];
    for (const Stack stack : kStacks) {
      const nlohmann::json& layers = expected["attention"][stack_name(stack)];
      ASSERT_EQ(stack_of(words, stack).size(), layers.size());
      for (size_t layer = 0; layer < layers.size(); ++layer) {
        for (size_t head = 0; head < layers[layer].size(); ++head) {
          EXPECT_THAT(stack_of(words, stack)[layer][head].weights,
                      Pointwise(FloatNear(1e-6F), matrix_of(layers[layer][head]).weights))
              << each["name"] << ", " << stack_name(stack);
        }
      }
    }
  }
}

TEST(Words, SumOverKeysMeanOverQueries) {
  Trace trace;
  trace.source_tokens = {"\u2581a", "b", "\u2581c"};
  trace.encoder = {{{3, 3, {0.5F, 0.25F, 0.25F, 0, 0.25F, 0.75F, 0, 0, 1}}}};
  const Trace words = group_by_words(trace);
  EXPECT_THAT(words.source_tokens, ElementsAre("ab", "c"));
  // Query "ab": the mean of (0.75, 0.25) and (0.25, 0.75); query "c": (0, 1).
  EXPECT_THAT(words.encoder[0][0].weights, ElementsAre(0.5F, 0.5F, 0.0F, 1.0F));
}

TEST(Words, RowsStillSumToOneInEveryStack) {
  for (const int tokens : {1, 2, 7, 40}) {
    const Trace words = group_by_words(
        testing::make_trace(testing::make_tokens(tokens), testing::make_tokens(tokens + 3), 2, 4));
    EXPECT_NO_THROW(check_trace(words));
    for (const Stack stack : kStacks) {
      for (const auto& layer : stack_of(words, stack)) {
        for (const AttentionMatrix& head : layer) {
          // Each weight is rounded twice to float32, relative 2^-24; they sum to 1.
          for (const double sum : row_sums(head)) EXPECT_NEAR(sum, 1, 4 * std::ldexp(1, -24));
        }
      }
    }
  }
}

TEST(Words, BytesBecomeText) {
  const Trace words =
      group_by_words(testing::make_trace({"\u2581", "<0xC3>", "<0xA4>", "h", "</s>"}, {"</s>"}, 1, 1));
  EXPECT_THAT(words.source_tokens, ElementsAre("\u00E4h", "</s>"));
}

TEST(Words, RefusesInvalidIndices) {
  const Trace trace = example();
  const std::vector<int> target{0, 1, 1, 2};
  for (const std::vector<int>& source :
       std::vector<std::vector<int>>{{0, 1, 1, 1}, {1, 1, 1, 1, 2}, {0, 2, 2, 2, 3}, {0, 1, 0, 1, 2}}) {
    EXPECT_EQ(kind_of([&] { group_by_words(trace, source, target); }), ErrorKind::kShape);
  }
  EXPECT_NO_THROW(group_by_words(trace, {0, 1, 1, 1, 2}, target));
}

TEST(TraceJson, RoundTripIsExact) {
  Trace trace = testing::make_trace(testing::make_tokens(12), testing::make_tokens(9), 2, 3);
  trace.source = "\"quotes\" \\ and \n";
  const Trace back = trace_of(nlohmann::json::parse(trace_to_json(trace)));
  EXPECT_EQ(back.model, trace.model);
  EXPECT_EQ(back.source, trace.source);
  EXPECT_EQ(back.source_tokens, trace.source_tokens);
  EXPECT_EQ(back.target_tokens, trace.target_tokens);
  EXPECT_EQ(key_tokens(back, Stack::kDecoder), key_tokens(trace, Stack::kDecoder));
  for (const Stack stack : kStacks) {
    ASSERT_EQ(stack_of(back, stack).size(), 2U);
    for (int layer = 0; layer < 2; ++layer) {
      for (int head = 0; head < 3; ++head) {
        EXPECT_EQ(stack_of(back, stack)[layer][head].weights, stack_of(trace, stack)[layer][head].weights);
      }
    }
  }
}

TEST(TraceJson, LookAheadIsZeroAndKeysAreNamed) {
  const std::string json = trace_to_json(testing::make_trace({"a", "</s>"}, {"b", "</s>"}, 1, 1));
  EXPECT_THAT(json, HasSubstr("\"decoder\": [\n   [[[1,0],"));
  for (const char* name :
       {"\"version\": 1", "\"encoder\":", "\"cross\":", "\"decoder_tokens\": [\"<s>\", \"b\"]"}) {
    EXPECT_THAT(json, HasSubstr(name));
  }
}

TEST(TraceJson, UnselectedHeadsAreEmpty) {
  const Trace chosen = select(example(), parse_selection("cross", "2", "3"));
  const Trace back = trace_of(nlohmann::json::parse(trace_to_json(chosen)));
  EXPECT_TRUE(back.encoder.empty());
  EXPECT_TRUE(back.cross[1][0].empty());
  EXPECT_EQ(back.cross[1][2].weights, chosen.cross[1][2].weights);
}

}  // namespace
}  // namespace heed
