#include "base/text/json_file.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>

#include "test_folder.h"

namespace heed {
namespace {

enum class Activation { kRelu, kGelu, kSilu };
const std::vector<std::pair<std::string, Activation>> kActivations = {
    {"relu", Activation::kRelu}, {"gelu", Activation::kGelu}, {"silu", Activation::kSilu}};

constexpr char kConfig[] = R"({
  "d_model": 512, "dropout": 0.1, "scale_embedding": true, "model_type": "marian", "activation_function": "gelu",
  "eos_token_id": 0, "bad_words_ids": [[58100]], "layers": [1, 2, 3], "names": ["a", "b"], "nothing": null,
  "huge": 18446744073709551615, "rope_parameters": {"rope_theta": 10000.0, "kind": {"deep": "x"}},
  "heads": [{"n": 1}, {"n": "two"}]
})";

JsonObject config() {
  return JsonObject::parse(kConfig, "config.json");
}

TEST(JsonObject, TypedValuesAndDefaults) {
  const JsonObject c = config();
  EXPECT_EQ(c.integer("d_model", {1, 65536}), 512);
  EXPECT_EQ(c.integer("nothing", {}, 7), 7);
  EXPECT_EQ(c.integer("absent", {}, -7), -7);
  EXPECT_EQ(c.integer("d_model", {}, 7), 512);
  EXPECT_DOUBLE_EQ(c.number("dropout", {0, 1}), 0.1);
  EXPECT_DOUBLE_EQ(c.number("d_model"), 512);
  EXPECT_TRUE(c.boolean("scale_embedding"));
  EXPECT_FALSE(c.boolean("absent", false));
  EXPECT_EQ(c.string("model_type"), "marian");
  EXPECT_EQ(c.string("absent", "x"), "x");
  EXPECT_EQ(c.integers("eos_token_id"), std::vector<int64_t>{0});
  EXPECT_EQ(c.integers("layers", {1, 3}), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(c.integers("absent", {}, std::vector<int64_t>{}), std::vector<int64_t>{});
  EXPECT_EQ(c.strings("names"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(c.word("activation_function", kActivations), Activation::kGelu);
  EXPECT_EQ(c.word<Activation>("absent", kActivations, Activation::kSilu), Activation::kSilu);
  EXPECT_DOUBLE_EQ(c.object("rope_parameters").number("rope_theta"), 10000);
  EXPECT_EQ(c.objects("heads")[0].integer("n"), 1);
  EXPECT_TRUE(c.has("d_model"));
  EXPECT_FALSE(c.has("nothing"));
  EXPECT_FALSE(c.has("absent"));
}

TEST(JsonObject, ErrorsNameFileKeyAndExpectedValue) {
  const JsonObject c = config();
  const auto expect = [](std::string_view message, const auto& body) {
    expect_error(ErrorKind::kFormat, message, body);
  };
  expect("config.json: 'model_type' is \"marian\", expected an integer from 1 to 65536", [&] {
    c.integer("model_type", {1, 65536});
  });
  expect("config.json: 'd_model' is 512, expected an integer of at most 8", [&] {
    c.integer("d_model", {INT64_MIN, 8});
  });
  expect("config.json: 'd_model' is 512, expected an integer of at least 513", [&] {
    c.integer("d_model", {513, INT64_MAX}, 600);
  });
  expect("config.json: 'absent' is missing, expected an integer", [&] { c.integer("absent"); });
  expect("config.json: 'nothing' is missing, expected a number", [&] { c.number("nothing"); });
  expect("config.json: 'huge' is 18446744073709551615, expected an integer", [&] { c.integer("huge"); });
  expect("config.json: 'dropout' is 0.1, expected an integer", [&] { c.integer("dropout"); });
  expect("config.json: 'dropout' is 0.1, expected a number from 0.5 to 1", [&] {
    c.number("dropout", {0.5, 1});
  });
  expect("config.json: 'layers' is a list of 3, expected true or false", [&] { c.boolean("layers"); });
  expect("config.json: 'd_model' is 512, expected a string", [&] { c.string("d_model", "x"); });
  expect("config.json: 'rope_parameters' is an object, expected a string",
         [&] { c.string("rope_parameters"); });
  expect("config.json: element 2 of 'layers' is 3, expected an integer from 1 to 2", [&] {
    c.integers("layers", {1, 2});
  });
  expect("config.json: element 0 of 'layers' is 1, expected a string", [&] { c.strings("layers"); });
  expect("config.json: element 0 of 'bad_words_ids' is a list of 1", [&] { c.integers("bad_words_ids"); });
  expect("config.json: 'rope_parameters.kind.deep' is \"x\", expected a number",
         [&] { c.object("rope_parameters").object("kind").number("deep"); });
  expect("config.json: 'heads[1].n' is \"two\", expected an integer",
         [&] { c.objects("heads")[1].integer("n"); });
  expect("config.json: 'd_model' is 512, expected an object", [&] { c.object("d_model"); });
  expect("config.json: 'layers[0]' is 1, expected an object", [&] { c.objects("layers"); });
  expect("config.json: 'd_model' is 512, expected a multiple of 'heads'",
         [&] { c.reject("d_model", "a multiple of 'heads'"); });
}

TEST(JsonObject, SuggestsTheNearestWord) {
  const auto c = JsonObject::parse(R"({"activation": "geul"})", "config.json");
  expect_error(
      ErrorKind::kFormat,
      R"(config.json: 'activation' is "geul", expected one of "relu", "gelu", "silu"; did you mean 'gelu'?)",
      [&] { c.word("activation", kActivations); });
}

TEST(JsonObject, PartsOutliveTheObject) {
  std::optional<JsonObject> part;
  {
    const JsonObject whole = config();
    part = whole.object("rope_parameters");
  }
  EXPECT_DOUBLE_EQ(part->number("rope_theta"), 10000);
  EXPECT_EQ(part->origin(), "config.json");
}

TEST(JsonObject, ReadsFilesWithinLimits) {
  const TestFolder folder;
  EXPECT_EQ(JsonObject::read(folder.write("c.json", "{\"a\": 1}")).integer("a"), 1);
  expect_error(ErrorKind::kNotFound, "none.json", [&] { JsonObject::read(folder.path("none.json")); });
  expect_error(ErrorKind::kFile, "directory", [&] { JsonObject::read(folder.path()); });
  expect_error(ErrorKind::kFormat, "the maximum for JSON files is 7",
               [&] { JsonObject::read(folder.path("c.json"), {.bytes = 7}); });
  expect_error(ErrorKind::kFormat, "is a list of 2, expected an object",
               [&] { JsonObject::read(folder.write("list.json", "[1, 2]")); });
}

TEST(WriteJson, SortsOrKeepsTheOrderAndReplacesWhole) {
  const TestFolder folder;
  const std::string path = folder.write("c.json", "old");
  write_json(path, nlohmann::json{{"b", {1, 2}}, {"a", "é"}});
  EXPECT_EQ(content_of(path), "{\n  \"a\": \"é\",\n  \"b\": [\n    1,\n    2\n  ]\n}\n");
  nlohmann::ordered_json given;
  given["b"] = 0.1;
  given["a"] = nullptr;
  write_json(path, given);
  EXPECT_EQ(content_of(path), "{\n  \"b\": 0.1,\n  \"a\": null\n}\n");
  expect_error(ErrorKind::kText, "UTF-8", [&] { write_json(path, nlohmann::json{{"a", "\xff"}}); });
  expect_error(ErrorKind::kNumeric, "inf", [&] { write_json(path, nlohmann::json{{"a", {1.0, INFINITY}}}); });
  expect_error(ErrorKind::kFile, "nowhere", [&] { write_json(folder.path("nowhere/c.json"), given); });
  EXPECT_EQ(content_of(path), "{\n  \"b\": 0.1,\n  \"a\": null\n}\n");
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace heed
