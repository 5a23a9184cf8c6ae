#include "search/rules/option_row.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tasks/generate_options.h"
#include "test_folder.h"
#include "translate/translate_options.h"

namespace heed::tasks {
namespace {

template <typename Options>
std::vector<search::OptionRow> rows_of() {
  std::vector<search::OptionRow> rows;
  visit_options(Options(), [&](const search::OptionRow& row, auto, const auto&...) { rows.push_back(row); });
  return rows;
}

template <typename Options>
void expect_consistent() {
  const std::vector<search::OptionRow> rows = rows_of<Options>();
  std::set<std::string_view> names;
  for (const search::OptionRow& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.help.empty() || row.help.ends_with('.')) << row.name;
    for (const std::string_view other : {row.needs, row.excludes[0], row.excludes[1]}) {
      EXPECT_TRUE(other.empty() || std::ranges::count(rows, other, &search::OptionRow::name) == 1)
          << row.name;
    }
  }
}

TEST(OptionRows, AreConsistent) {
  expect_consistent<TranslateOptions>();
  expect_consistent<GenerateOptions>();
}

TEST(OptionRows, DescribeRanges) {
  EXPECT_EQ(search::describe(search::ValueRange<int>{1, 1024}), "an integer from 1 to 1024");
  EXPECT_EQ(search::describe(search::ValueRange<int>{0}), "an integer from 0 up");
  EXPECT_EQ(search::describe(search::ValueRange<uint64_t>{}), "an integer");
  EXPECT_EQ(search::describe(search::ValueRange<double>{0, 1, true}), "a number above 0 and up to 1");
}

TEST(OptionRows, RefuseWhatIsOutOfRangeOrExcluded) {
  const auto refuses = [](const std::string& part, const auto& options) {
    expect_error(ErrorKind::kUsage, part, [&] { search::require_valid(options); });
  };
  search::require_valid(TranslateOptions{.beam = 4, .nbest = 4, .prefix = "The"});
  search::require_valid(TranslateOptions{.sample = true, .temperature = 0, .seed = 3});
  refuses("beam must be an integer from 1 to 1024, not 0", TranslateOptions{.beam = 0});
  refuses("length_penalty", TranslateOptions{.length_penalty = std::numeric_limits<double>::quiet_NaN()});
  refuses("top_p must be a number above 0 and up to 1, not 0", GenerateOptions{.top_p = 0});
  refuses("seed only works with sample", TranslateOptions{.seed = 3});
  refuses("beam and sample exclude each other", TranslateOptions{.beam = 2, .sample = true});
  refuses("beam and greedy exclude each other", GenerateOptions{.greedy = true, .beam = 2});
  refuses("temperature and beam exclude each other", GenerateOptions{.beam = 2, .temperature = 0.5});
  refuses("top_k and greedy exclude each other", GenerateOptions{.greedy = true, .top_k = 3});
  expect_error(ErrorKind::kText, "stop is not UTF-8, at byte 1",
               [] { search::require_valid(GenerateOptions{.stop = {"a\xff"}}); });
}

TEST(OptionRows, DocumentsRefuseWhatIsForLines) {
  search::require_for_documents(
      search::given_options(TranslateOptions{.beam = 3, .split_sentences = false, .forbid = {"dog"}}));
  for (const TranslateOptions& options :
       {TranslateOptions{.nbest = 2}, TranslateOptions{.prefix = "The"}, TranslateOptions{.sample = true},
        TranslateOptions{.placeholders = false}}) {
    expect_error(ErrorKind::kUsage, "no meaning for documents",
                 [&] { search::require_for_documents(search::given_options(options)); });
  }
}

}  // namespace
}  // namespace heed::tasks
