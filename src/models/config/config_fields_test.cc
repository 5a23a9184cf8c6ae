#include "models/config/config_fields.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "heed/error.h"

namespace heed::models {
namespace {

struct Sizes {
  int64_t width = 0;
  int32_t layers = 0, start_id = -1, end_id = -1;
  double epsilon = 0;
  bool tied = false;
  Activation activation = Activation::kRelu;
};

void describe_sizes(ConfigFields& fields, Sizes& sizes) {
  fields.integer("width", sizes.width, {1, 100});
  fields.integer("layers", sizes.layers, {1, 8}, sizes.width / 2);
  fields.token_id("start_id", sizes.start_id, sizes.width, 4);
  fields.token_id("end_id", sizes.end_id, 10);
  fields.number("epsilon", sizes.epsilon, {0, 1}, 0.5);
  fields.boolean("tied", sizes.tied, true);
  fields.word("activation", sizes.activation, activation_names(), Activation::kSwish, "silu");
  fields.ignore({"nickname"});
  fields.neutral("dialect", {"plain"});
  fields.derive([&](const JsonObject& json) {
    if (sizes.width < sizes.layers) json.reject("layers", "at most the width");
  });
}

Sizes read_sizes(const std::string& text) {
  return read_config(JsonObject::parse(text, "sizes.json"), describe_sizes, Sizes{});
}

std::string error_of(const std::string& text) {
  try {
    read_sizes(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(ConfigFields, AreReadWithDefaultsThatDependOnFieldsBefore) {
  const Sizes sizes = read_sizes(R"({"width": 6, "nickname": "small", "dialect": "plain"})");
  EXPECT_EQ(sizes.width, 6);
  EXPECT_EQ(sizes.layers, 3);
  EXPECT_EQ(sizes.start_id, 4);
  EXPECT_EQ(sizes.end_id, -1);
  EXPECT_EQ(sizes.epsilon, 0.5);
  EXPECT_TRUE(sizes.tied);
  EXPECT_EQ(sizes.activation, Activation::kSwish);
}

TEST(ConfigFields, TokensOfNullOrOutsideOfTheVocabularyAreNone) {
  EXPECT_EQ(read_sizes(R"({"width": 6, "start_id": null})").start_id, -1);
  EXPECT_EQ(read_sizes(R"({"width": 6, "start_id": 2})").start_id, 2);
  EXPECT_EQ(read_sizes(R"({"width": 5})").start_id, 4);
  EXPECT_EQ(read_sizes(R"({"width": 4})").start_id, -1);
}

TEST(ConfigFields, WhatIsWrittenIsReadAgain) {
  const Sizes sizes{.width = 7, .layers = 2, .end_id = 3, .epsilon = 0.25, .activation = Activation::kSwish};
  nlohmann::ordered_json json;
  write_config(sizes, describe_sizes, json);
  EXPECT_EQ(
      json.dump(),
      R"({"width":7,"layers":2,"start_id":null,"end_id":3,"epsilon":0.25,"tied":false,"activation":"silu"})");
  const Sizes again = read_sizes(json.dump());
  EXPECT_EQ(again.width, 7);
  EXPECT_EQ(again.layers, 2);
  EXPECT_EQ(again.end_id, 3);
  EXPECT_EQ(again.epsilon, 0.25);
  EXPECT_FALSE(again.tied);
}

TEST(ConfigFields, ErrorsNameTheKey) {
  EXPECT_EQ(error_of(R"({"width": 6})"), "none");
  EXPECT_NE(error_of("{}").find("'width'"), std::string::npos);
  EXPECT_NE(error_of(R"({"width": 101})").find("'width'"), std::string::npos);
  EXPECT_NE(error_of(R"({"width": 6, "layers": 7})").find("at most the width"), std::string::npos);
  EXPECT_NE(error_of(R"({"width": 6, "end_id": 10})").find("'end_id'"), std::string::npos);
  EXPECT_NE(error_of(R"({"width": 6, "dialect": "rare"})").find("'dialect'"), std::string::npos);
  // The unknown key first: it may be the reason for what else does not fit.
  EXPECT_NE(error_of(R"({"width": 101, "heights": 4})").find("'heights'"), std::string::npos);
}

}  // namespace
}  // namespace heed::models
