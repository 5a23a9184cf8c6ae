#include "inspect/terminal/query_terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heed/error.h"
#include "inspect/terminal/words.h"
#include "test_folder.h"

namespace heed {
namespace {

using ::testing::HasSubstr;

/// A classifier's trace of two heads, made by hand.
Trace classifier_trace() {
  Trace trace;
  trace.source = "Films?";
  trace.target = "good";
  trace.source_tokens = {"[CLS]", "film", "##s", "?"};
  trace.source_words = {0, 1, 1, 2};
  trace.word_pieces = true;
  AttentionMatrix head{4, 4, std::vector<float>(16, 0.25f)};
  const std::vector<float> first{0.125f, 0.5f, 0.25f, 0.125f};
  std::copy(first.begin(), first.end(), head.weights.begin());
  trace.encoder = {{head, head}};
  return trace;
}

TEST(QueryTerminal, DrawsABarForEachKey) {
  EXPECT_EQ(query_terminal(classifier_trace(), {.query = 0}, {.columns = 33}),
            "text: Films?\nclass: good\n\n"
            "encoder, layer 1, head 1: what \u201C\u2026\n\n"
            "                 0%          100%\n"
            "  [CLS]   12.5%  \u2588\u2588\n"
            "  film    50.0%  \u2588\u2588\u2588\u2588\u2588\u2588\u2588\u2588\n"
            "  ##s     25.0%  \u2588\u2588\u2588\u2588\n"
            "  ?       12.5%  \u2588\u2588\n");
}

TEST(QueryTerminal, WordsOfWordPieceLoseTheirMarks) {
  const Trace words = group_by_words(classifier_trace());
  EXPECT_EQ(words.source_tokens, (std::vector<std::string>{"[CLS]", "films", "?"}));
  EXPECT_FLOAT_EQ(words.encoder[0][0].at(0, 1), 0.75f);
  EXPECT_THAT(query_terminal(words, {.query = 0}), HasSubstr("  films   75.0%"));
}

TEST(QueryTerminal, RefusesMissingQueries) {
  const Trace trace = classifier_trace();
  expect_error(ErrorKind::kUsage, "query 5 does not exist in encoder layer 1 head 1",
               [&] { query_terminal(trace, {.query = 4}); });
  expect_error(ErrorKind::kUsage, "cross", [&] { query_terminal(trace, {.stack = Stack::kCross}); });
  expect_error(ErrorKind::kUsage, "too narrow", [&] { query_terminal(trace, {}, {.columns = 10}); });
}

}  // namespace
}  // namespace heed
