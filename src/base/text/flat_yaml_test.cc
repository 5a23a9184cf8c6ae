#include "base/text/flat_yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heed/error.h"

namespace heed {
namespace {

using testing::HasSubstr;
using Strings = std::vector<std::string>;

template <typename Body>
void expect_format_error(const std::string& part, const Body& body) {
  try {
    body();
    ADD_FAILURE() << "no error: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kFormat);
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(FlatYaml, ReadsScalarsAndLists) {
  const FlatYaml yaml = parse_flat_yaml(
      "---\n# options\nrelative-paths: true\nmodels:\n  - one.npz  # the best\n  - 'it''s two'\nvocabs:\n"
      "- a.yml\ntransformer-preprocess: \"\"\ndim-vocabs: [64, 'x, y']\nempty:\n  []\nnothing:\n"
      "\"quoted key\": \"a\\tb \\x41\\u00e9\\\"\"\r\nbeam-size: 6\n...\n",
      "decoder.yml");
  EXPECT_EQ(yaml.size(), 9u);
  EXPECT_EQ(yaml.at("relative-paths"), Strings{"true"});
  EXPECT_EQ(yaml.at("models"), (Strings{"one.npz", "it's two"}));
  EXPECT_EQ(yaml.at("vocabs"), Strings{"a.yml"});
  EXPECT_EQ(yaml.at("transformer-preprocess"), Strings{""});
  EXPECT_EQ(yaml.at("dim-vocabs"), (Strings{"64", "x, y"}));
  EXPECT_EQ(yaml.at("empty"), Strings{});
  EXPECT_EQ(yaml.at("nothing"), Strings{});
  EXPECT_EQ(yaml.at("quoted key"), Strings{"a\tb Aé\""});
  EXPECT_EQ(yaml.at("beam-size"), Strings{"6"});
}

TEST(FlatYaml, RefusesOtherYaml) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"a: 1\nb", "file, line 2: expected 'key: value'"},
           {"a:\n  b: 1", "nested values"},
           {"- a", "a list has no key"},
           {"a: 1\n- b", "a list has no key"},
           {"a: 1\na: 2", "'a' occurs twice"},
           {"a: [1, 2", "']' is missing"},
           {"a: \"b", "quotation mark is missing"},
           {"a: \"\\q\"", "'\\q' is not an escape"},
           {"a: \"\\ud800\"", "is not a character"},
           {"a: {b: 1}", "not a plain value"},
           {"a: |", "not a plain value"},
           {"a: \"b\" c", "'c' was not expected"},
           {"a: \xff", "not valid UTF-8"},
       }) {
    expect_format_error(message, [&, yaml = text] { parse_flat_yaml(yaml, "file"); });
  }
}

TEST(FlatYaml, ReadsVocabularies) {
  EXPECT_EQ(parse_yaml_vocabulary("</s>: 0\n<unk>: 1\n▁a: 3\n\"\\\"\": 2\n::: 4\na:b: 5\n'''': 6\n"
                                  "? \"▁long\"\n: 7\n\"#\": 8\n\"\\x85\": 9\n\"\\\\\": 10\n",
                                  "vocab.yml"),
            (Strings{"</s>", "<unk>", "\"", "▁a", "::", "a:b", "'", "▁long", "#", "\u0085", "\\"}));
  EXPECT_EQ(parse_yaml_vocabulary("", "vocab.yml"), Strings{});
  expect_format_error("line 2: the id 0 occurs twice", [] { parse_yaml_vocabulary("a: 0\nb: 0", "v"); });
  expect_format_error("the id 1 is missing", [] { parse_yaml_vocabulary("a: 0\nb: 2", "v"); });
  expect_format_error("'x' is not an id", [] { parse_yaml_vocabulary("a: x", "v"); });
  expect_format_error("'-1' is not an id", [] { parse_yaml_vocabulary("a: -1", "v"); });
  expect_format_error("expected 'piece: id'", [] { parse_yaml_vocabulary("abc", "v"); });
  expect_format_error("'abc' has no id", [] { parse_yaml_vocabulary("? abc", "v"); });
}

}  // namespace
}  // namespace heed
