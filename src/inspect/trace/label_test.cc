#include "inspect/trace/label.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "inspect/terminal/words.h"
#include "inspect/trace/test_traces.h"
#include "paths.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> texts(const std::vector<std::string>& tokens) {
  std::vector<std::string> shown;
  for (const Label& label : token_labels(tokens, "_")) shown.push_back(label.text);
  return shown;
}

TEST(TokenLabels, WordMarksAndSpecialTokens) {
  EXPECT_THAT(texts({"\u2581Haus", "es", "</s>", "<s>", "<pad>", "<unk>", "\u2581"}),
              ElementsAre("_Haus", "es", "\u27E8end\u27E9", "\u27E8start\u27E9", "\u27E8pad\u27E9",
                          "\u27E8unknown\u27E9", "_"));
  EXPECT_EQ(token_labels({"\u2581Haus"}, "_")[0].faint_prefix, 1U);
  EXPECT_EQ(token_labels({"_Haus"}, "_")[0].faint_prefix, 0U);  // an underscore of the text is none of ours
}

/// Cases that the explorer's test reads, too.
TEST(TokenLabels, OfTheSharedCases) {
  std::ifstream file(source_folder() + "/tests/data/token_labels.json");
  for (const nlohmann::json& each : nlohmann::json::parse(file)) {
    const std::vector<std::string> tokens = each["tokens"];
    std::vector<std::string> labels;
    for (const Label& label : token_labels(tokens, "")) labels.push_back(label.text);
    EXPECT_EQ(labels, each["labels"].get<std::vector<std::string>>()) << each["name"];
    EXPECT_EQ(word_indices(tokens), each["words"].get<std::vector<int>>()) << each["name"];
  }
}

TEST(TokenLabels, BytesShowTheirCharacter) {
  EXPECT_THAT(texts({"<0xC3>", "<0xA4>", "x"}), ElementsAre("\u00E4\u2081", "\u00E4\u2082", "x"));
  EXPECT_THAT(texts({"<0x41>", "<0x0A>"}), ElementsAre("A", "\u23CE"));
}

TEST(TokenLabels, InvalidBytesShowTheirValue) {
  EXPECT_THAT(texts({"<0xE4>", "<0xC3>", "<0xA4>"}), ElementsAre("0xE4", "\u00E4\u2081", "\u00E4\u2082"));
  EXPECT_THAT(texts({"<0xC3>", "x", "<0xA4>"}), ElementsAre("0xC3", "x", "0xA4"));
  EXPECT_THAT(texts({"<0xED>", "<0xA0>", "<0x80>"}), ElementsAre("0xED", "0xA0", "0x80"));  // a surrogate
  EXPECT_THAT(texts({"<0xg1>", "<0x1>"}), ElementsAre("<0xg1>", "<0x1>"));                  // not byte pieces
}

TEST(VisibleText, EscapesControlCharacters) {
  EXPECT_EQ(visible_text("a\x1b[31mb\tc\nd\x7f"), "a\u241B[31mb\u21E5c\u23CEd\u2421");
  EXPECT_EQ(visible_text("a\u202Eb\u009B"), "aU+202EbU+009B");
  EXPECT_EQ(visible_text("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(visible_text("\u0645\u200C\u0645"), "\u0645\u200C\u0645");  // a joiner belongs to its script
}

TEST(TokenLabels, AreAlwaysValid) {
  std::vector<std::string> tokens = testing::make_tokens(40);
  tokens.insert(tokens.end(), {"\xFF\xFE", "", std::string(1, '\0'), "\u2581\xC3"});
  const std::vector<Label> labels = token_labels(tokens, "\u2581");
  ASSERT_EQ(labels.size(), tokens.size());
  for (const Label& label : labels) {
    EXPECT_FALSE(find_invalid_utf8(label.text)) << label.text;
    EXPECT_LE(label.faint_prefix + label.faint_suffix, label.text.size());
    EXPECT_EQ(label.text.find('\0'), std::string::npos);
  }
}

}  // namespace
}  // namespace heed
