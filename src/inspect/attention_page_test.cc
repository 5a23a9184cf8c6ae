#include "inspect/attention_page.h"

#include <gtest/gtest.h>

#include "heed/error.h"

namespace heed {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Trace small_trace() {
  Trace trace;
  trace.source = "a <b>";
  trace.target = "x & y";
  trace.source_tokens = {"\u2581a", "\u2581<b>", "</s>"};
  trace.target_tokens = {"\u2581x", "</s>"};
  trace.cross = {{{2, 3, {0.5F, 0.25F, 0.25F, 0, 0, 1}}}};
  return trace;
}

TEST(AttentionPage, HasACellForEveryWeightThatTellsIt) {
  const std::string page = attention_page(small_trace());
  EXPECT_EQ(count(page, "<rect"), 6u);
  EXPECT_EQ(count(page, "<figure>"), 1u);
  EXPECT_EQ(count(page, ": 0.250</title>"), 2u);
  EXPECT_EQ(count(page, "<h2>cross layer 1</h2>"), 1u);
  EXPECT_EQ(count(page, "http"), 0u);  // nothing is fetched
}

TEST(AttentionPage, TextIsNeverMarkup) {
  const std::string page = attention_page(small_trace());
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("a &lt;b&gt;"), std::string::npos);
  EXPECT_NE(page.find("x &amp; y"), std::string::npos);
}

TEST(AttentionPage, RefusesNothingAndTooMuch) {
  EXPECT_THROW(attention_page(Trace{}), Error);
  Trace large = small_trace();
  large.source_tokens.assign(1500, "\u2581a");
  large.target_tokens.assign(1500, "\u2581x");
  AttentionMatrix matrix{1500, 1500, std::vector<float>(1500 * 1500, 0)};
  large.cross = {{matrix}};
  EXPECT_THROW(attention_page(large), Error);
}

}  // namespace
}  // namespace heed
