#include "text/pipeline/words/counted_expression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "heed/error.h"
#include "text/pipeline/words/pattern.h"

#define re_registers onig_registers  // GoogleTest includes <regex.h>, which has a structure of this name
#include <oniguruma.h>
#undef re_registers

namespace heed {
namespace {

std::string counted(const std::string& expression) {
  return counted_expression(expression, "c").text;
}

TEST(CountedExpression, CalloutsStandAroundWhatReadsFar) {
  EXPECT_EQ(counted("ab?|c"), "(*c)(?:ab?|c)");
  EXPECT_EQ(counted("ab*c+d"), "(*c)(?:a(*c)b*(*c)c+(*c)d)");
  EXPECT_EQ(counted("é*?x{2,}+?"), "(*c)(?:é*?(*c)x{2,}+?(*c))");
  EXPECT_EQ(counted("(a|(?:b)*)+"), "(*c)(?:(a|(*c)(?:b)*(*c))+(*c))");
  EXPECT_EQ(counted("[^]*a[b]]*\\p{L}+x"), "(*c)(?:[^]*a[b]]*(*c)\\p{L}+(*c)x)");
  EXPECT_EQ(counted("\\*\\x{2A}\\c*{a}"), "(*c)(?:\\*\\x{2A}\\c*{a})");
  EXPECT_EQ(counted("(?<n>a)\\g<n>\\k<n>?b"), "(*c)(?:(?<n>a)(*c)\\g<n>(*c)\\k<n>?(*c)b)");
  EXPECT_EQ(counted("a(?#*)b(?x) # *\n c * + (?-x: #)"),
            "(*c)(?:a(?#*)b(?x) # *\n (*c)c * +(*c) (?-x: #)\n)");
  EXPECT_EQ(counted("(?x)a#*"), "(*c)(?:(?x)a#*\n)");
}

TEST(CountedExpression, LongExpressionsWeighMore) {
  EXPECT_EQ(counted_expression("a+", "c").weight, 1u);
  EXPECT_EQ(counted_expression("a{640}", "c").weight, 11u);
  EXPECT_EQ(counted_expression(std::string(640, 'a'), "c").weight, 11u);
  EXPECT_FALSE(counted_expression("(a+)", "c").reads_text);
  EXPECT_TRUE(counted_expression("(a+)\\1", "c").reads_text);
}

/// The matches of an expression as the library finds them; "invalid" if it does not compile.
std::string matches_of(const std::string& expression, const std::string& text) {
  static const int initialized = [] {
    Pattern::regex("a");  // initializes the library
    std::string name = "c";
    auto* begin = reinterpret_cast<OnigUChar*>(name.data());
    return onig_set_callout_of_name(
        ONIG_ENCODING_UTF8, ONIG_CALLOUT_TYPE_SINGLE, begin, begin + 1, ONIG_CALLOUT_IN_PROGRESS,
        [](OnigCalloutArgs*, void*) -> int { return ONIG_CALLOUT_SUCCESS; }, nullptr, 0, nullptr, 0, nullptr);
  }();
  EXPECT_GE(initialized, 0);
  OnigRegex regex = nullptr;
  const auto* pattern = reinterpret_cast<const OnigUChar*>(expression.data());
  if (onig_new(&regex, pattern, pattern + expression.size(), ONIG_OPTION_NONE, ONIG_ENCODING_UTF8,
               ONIG_SYNTAX_DEFAULT, nullptr) != ONIG_NORMAL) {
    return "invalid";
  }
  std::string found;
  const auto* begin = reinterpret_cast<const OnigUChar*>(text.data());
  const auto* end = begin + text.size();
  OnigRegion* region = onig_region_new();
  for (const OnigUChar* at = begin; at <= end;) {
    const int code = onig_search(regex, begin, end, at, end, region, ONIG_OPTION_NONE);
    if (code < 0) break;
    for (int group = 0; group < region->num_regs; ++group) {
      found += std::to_string(region->beg[group]) + "-" + std::to_string(region->end[group]) + " ";
    }
    at = begin + region->end[0];
    if (region->end[0] == region->beg[0]) at += at < end ? ONIGENC_MBC_ENC_LEN(ONIG_ENCODING_UTF8, at) : 1;
  }
  onig_region_free(region, 1);
  onig_free(regex);
  return found;
}

/// Expressions of the parts that tokenizers use, and of others. Without \R: with Oniguruma 6.9.8 the library
/// does not find all matches of [a]+.*+([^b]*\R)+ itself.
class ExpressionSource {
 public:
  explicit ExpressionSource(unsigned seed) : random_(seed) {}

  std::string expression(int depth) {
    std::string text = sequence(depth);
    while (below(3) == 0) text += "|" + sequence(depth);
    return text;
  }
  std::string text() {
    static const std::vector<std::string> pieces{"a", "b", "ab", "1", " ", "\n",
                                                 "é", "*", "]",  "#", "x", "A"};
    std::string text;
    for (size_t n = below(20); n > 0; --n) text += pieces[below(pieces.size())];
    return text;
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }
  std::string sequence(int depth) {
    static const std::vector<std::string> quantifiers{"",   "",   "",   "*",  "+",   "?",     "*?",
                                                      "+?", "*+", "?+", "++", "{2}", "{1,2}", "{,2}?"};
    std::string text;
    for (size_t n = 1 + below(3); n > 0; --n) text += part(depth) + quantifiers[below(quantifiers.size())];
    return text;
  }
  std::string part(int depth) {
    static const std::vector<std::string> parts{"a",
                                                "b",
                                                "é",
                                                " ",
                                                ".",
                                                "\\s",
                                                "\\d",
                                                "\\p{L}",
                                                "\\P{L}",
                                                "[ab]",
                                                "[^a]",
                                                "[]a]",
                                                "\\*",
                                                "\\x61",
                                                "\\x{62}",
                                                "\\b",
                                                "[[:alpha:]&&[^b]]",
                                                "^",
                                                "$",
                                                "#",
                                                "(?#c*)",
                                                "\\X",
                                                "\\O",
                                                "\\1",
                                                "{",
                                                "(?i)",
                                                "(?x)",
                                                "\\]",
                                                "[\\]*]",
                                                "\\g<1>?",
                                                "\\cA",
                                                "\\101",
                                                "[a-c&&b-d]"};
    static const std::vector<std::string> groups{"(",    "(?:",  "(?>",  "(?=",    "(?!",
                                                 "(?<=", "(?<!", "(?x:", "(?i-x:", "(?<n>"};
    if (depth > 0 && below(3) == 0) return groups[below(groups.size())] + expression(depth - 1) + ")";
    return parts[below(parts.size())];
  }
  std::minstd_rand random_;
};

TEST(CountedExpression, HasTheSameMatches) {
  ExpressionSource source(7);
  size_t valid = 0, matched = 0;
  for (int n = 0; n < 5000; ++n) {
    const std::string expression = source.expression(2);
    for (int texts = 0; texts < 3; ++texts) {
      const std::string text = source.text();
      const std::string expected = matches_of(expression, text);
      if (expected == "invalid") break;
      ++valid;
      if (!expected.empty()) ++matched;
      ASSERT_EQ(matches_of(counted(expression), text), expected) << expression << "\nis counted as\n"
                                                                 << counted(expression) << "\nin\n"
                                                                 << text;
    }
  }
  EXPECT_GT(valid, 4000u);
  EXPECT_GT(matched, 2000u);
}

TEST(PatternBudget, CountsHowFarASearchReads) {
  // Each takes n^2 steps or more, and goes back some n times at most.
  const std::string letters(50'000, 'a');
  for (const char* expression :
       {"(?>\\p{L}*)\\d", "\\p{L}*+\\d", "[a-z]*+\\d", "\\p{L}+\\d", "(?=\\p{L}*)\\d",
        "(?:(?=\\p{L}*)\\p{L})*\\d", "(?:ab|a++)\\d", "(?:a{1000}){1000}b", "a{100000}b",
        "(?:\\p{L}*+x|a)+\\d", "(?<=\\d\\p{L}{5,})a", "(a*)\\1\\d", "a?a?a?a?a?a?a?a?a?a?\\p{L}*+\\d",
        "\\X+\\d", "(?>\\p{L}*)0|(?>\\p{L}*)\\d"}) {
    SCOPED_TRACE(expression);
    try {
      Pattern::regex(expression).find_in(letters);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("takes too many steps in this text"), std::string::npos);
    }
  }
}

TEST(PatternBudget, ExpressionsThatItCannotCountAreRefused) {
  for (const char* expression : {"(?~b)\\d", "(?~|b|a*)", "(?{x})a", "a(*COUNT)", "a(*heed_count)"}) {
    EXPECT_THROW(Pattern::regex(expression), Error) << expression;
  }
}

TEST(PatternBudget, LetsLongTextsOfTokenizersPass) {
  std::string text;
  for (int n = 0; n < 20'000; ++n) text += "ab's 1234   \xC3\xA9t\xC3\xA9 // {}\n\n";
  for (const char* expression : {"'s|'t| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
                                 "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
                                 "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*"
                                 "[\\r\\n]+|\\s+(?!\\S)|\\s+",
                                 " {2,}", "[0-9][0-9][0-9]"}) {
    SCOPED_TRACE(expression);
    EXPECT_GT(Pattern::regex(expression).find_in(text).size(), 19'000u);
    EXPECT_NO_THROW(Pattern::regex(expression).find_in(std::string(500'000, ' ')));
    EXPECT_NO_THROW(Pattern::regex(expression).find_in(std::string(500'000, 'a')));
  }
}

}  // namespace
}  // namespace heed
