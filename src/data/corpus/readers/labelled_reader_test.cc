#include "data/corpus/readers/labelled_reader.h"

#include <gtest/gtest.h>

#include "test_folder.h"

namespace heed {
namespace {

TEST(LabelledReader, ReadsColumnsAndSkipsBlankLines) {
  TestFolder folder;
  LabelledReader reader(folder.write("a.tsv", "good\tA fine film .\r\n \t \n\n bad \t\nsame\tone\ttwo"));
  LabelledText text;
  ASSERT_TRUE(reader.next(text));
  EXPECT_EQ(text.label, "good");
  EXPECT_EQ(text.first, "A fine film .");
  EXPECT_FALSE(text.second.has_value());
  ASSERT_TRUE(reader.next(text));
  EXPECT_EQ(text.label, "bad");
  EXPECT_EQ(text.first, "");
  EXPECT_EQ(text.line, 4u);
  ASSERT_TRUE(reader.next(text));
  EXPECT_EQ(text.first, "one");
  EXPECT_EQ(text.second, "two");
  EXPECT_FALSE(reader.next(text));
}

TEST(LabelledReader, ErrorsNameTheLine) {
  TestFolder folder;
  const auto expect_refused = [&](const std::string& content, const std::string& part) {
    LabelledReader reader(folder.write("a.tsv", content));
    expect_error(ErrorKind::kFormat, part, [&] {
      for (LabelledText text; reader.next(text);) continue;
    });
  };
  expect_refused("good\tyes\n1 a film\n", "line 2 of");
  expect_refused("1 a film\n", "has no tab");
  expect_refused("\ta film\n", "has no label");
  expect_refused("a\tb\tc\td\n", "more than two tabs");
  expect_refused("", "has no lines");
  expect_refused("\n \n", "has no lines");
}

}  // namespace
}  // namespace heed
