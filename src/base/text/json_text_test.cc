#include "base/text/json_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "test_folder.h"

namespace heed {
namespace {

void expect_refused(std::string_view text, std::string_view part, const JsonLimits& limits = {}) {
  expect_error(ErrorKind::kFormat, part, [&] { parse_json(text, "config.json", limits); });
  expect_error(ErrorKind::kFormat, "config.json", [&] { parse_json(text, "config.json", limits); });
}

TEST(ParseJson, AgreesWithTheLibraryOnValidText) {
  for (const char* text :
       {"{}", "[]", "null", "-0.5", "\"\\u00e9\\n\"", "[[],{},[{}]]", " [1, 2 ,[3]] \n",
        R"({"a":[{"b":[1,2.5,-3,true,null,"x"]},[]],"c":{"d":{}},"e":18446744073709551615})"}) {
    EXPECT_EQ(parse_json(text, "x"), nlohmann::json::parse(text)) << text;
  }
}

TEST(ParseJson, ErrorsHaveAPosition) {
  expect_refused("", "line 1, column 1");
  expect_refused("{\n  \"a\": 1,\n  \"b\" 2\n}", "line 3, column 7");
  expect_refused("{\"a\": tru}", "invalid literal");
  expect_refused("{} {}", "line 1, column 4");
  expect_refused("{\"a\": \"\xff\"}", "UTF-8");
  expect_refused("{\"a\": \"\xed\xa0\x80\"}", "UTF-8");
  expect_refused(R"({"a": "\ud800"})", "surrogate");
  expect_refused(R"({"a": 1e999})", "number overflow");
  expect_refused("{\"a\": NaN}", "invalid literal");
}

TEST(ParseJson, RefusesRepeatedKeys) {
  expect_refused(R"({"a": 1, "b": {"c": 1, "c": 2}})", "the key 'c' appears twice");
  expect_refused(R"({"a": 1, "a": 1})", "the key 'a' appears twice");
  EXPECT_NO_THROW(parse_json(R"({"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]})", "x"));
}

TEST(ParseJson, IsBoundedInSizeAndDepth) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_NO_THROW(parse_json(nested(64), "x"));
  expect_refused(nested(65), "more than 64 deep");
  expect_refused(std::string(5'000'000, '['), "more than 64 deep");
  expect_refused(nested(3), "more than 2 deep", {.depth = 2});
  expect_refused("[1, 2]", "the maximum is 5", {.bytes = 5});
}

TEST(ParseJson, BoundsTheElementsOfAList) {
  const JsonLimits limits{.list = "a", .list_elements = 2};
  EXPECT_NO_THROW(
      parse_json(R"({"b": [1, 2, 3], "a": [[1, 2, 3], {"a": [1, 2, 3]}], "c": [1, 2, 3]})", "it", limits));
  EXPECT_NO_THROW(parse_json("[1, 2, 3]", "it", limits));
  expect_refused(R"({"b": 1, "a": [1, 2, 3]})", "config.json: 'a' has more than 2 elements", limits);
  expect_refused(R"({"a": [1, 2, 3, and no more)", "more than 2 elements",
                 limits);  // before the rest is read
}

TEST(ParseJson, MutatedTextIsRefusedOrValid) {
  const std::string whole =
      R"({"d_model": 512, "dropout": 0.1, "names": ["a", "é\n", "\u20ac"], "o": {"p": [true, null, -1e5]}})";
  Random random(RandomKey::from_seed(30));
  int accepted = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = whole;
    for (uint64_t change = 0; change <= random.below(3); ++change) {
      const size_t at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.next());
          break;
        case 1:
          text.erase(at, 1 + random.below(5));
          break;
        case 2:
          text.insert(at, 1, "{}[]\",:0-e.\\u\xc3"[random.below(14)]);
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), random.below(8)));
      }
      if (text.empty()) text.push_back('{');
    }
    // The library's own parser is the oracle, but for repeated keys.
    const bool valid = nlohmann::json::accept(text);
    try {
      const nlohmann::json value = parse_json(text, "x");
      EXPECT_TRUE(valid) << text;
      if (valid) {
        EXPECT_EQ(value, nlohmann::json::parse(text)) << text;
      }
      ++accepted;
    } catch (const Error& error) {
      EXPECT_TRUE(!valid || std::string_view(error.what()).find("twice") != std::string_view::npos) << text;
      ++refused;
    }
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 5000);
}

TEST(ParseJson, ManyKeysTakeLinearTime) {
  // Looking each key up among those before it takes half a minute here.
  std::string text = "{";
  for (int n = 0; n < 200'000; ++n) text += fmt::format("{}\"key {}\": {}", n > 0 ? "," : "", n, n);
  text += "}";
  EXPECT_EQ(parse_json(text, "x").size(), 200'000);
  const std::clock_t start = std::clock();
  const nlohmann::ordered_json ordered = parse_ordered_json(text, "x");
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC) << "of computing";
  EXPECT_EQ(ordered.size(), 200'000);
  EXPECT_EQ(ordered.begin().key(), "key 0");
  EXPECT_EQ(std::prev(ordered.end()).key(), "key 199999");
}

TEST(ParseJson, OrderedTextKeepsItsOrderUnderTheSameLimits) {
  EXPECT_EQ(parse_ordered_json(R"({"b": {"d": 1, "c": [{}, 2]}, "a": 3})", "x").dump(),
            R"({"b":{"d":1,"c":[{},2]},"a":3})");
  expect_error(ErrorKind::kFormat, "'c' appears twice",
               [] { parse_ordered_json(R"({"a": {"c": 1, "c": 2}})", "x"); });
  expect_error(ErrorKind::kFormat, "more than 64 deep",
               [] { parse_ordered_json(std::string(100'000, '['), "x"); });
}

}  // namespace
}  // namespace heed
