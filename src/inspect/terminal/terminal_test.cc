#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "heed/error.h"
#include "inspect/terminal/attention_terminal.h"
#include "inspect/terminal/curve_terminal.h"
#include "inspect/terminal/terminal_text.h"
#include "inspect/trace/test_traces.h"
#include "text/unicode/utf8.h"

namespace heed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The lines without colour codes.
std::vector<std::string> plain_lines(const std::string& text) {
  std::string plain;
  for (size_t n = 0; n < text.size(); ++n) {
    if (text[n] == '\x1b') {
      n = text.find('m', n);
    } else {
      plain += text[n];
    }
  }
  std::vector<std::string> lines;
  std::istringstream stream(plain);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

int widest_line(const std::string& text) {
  int widest = 0;
  for (const std::string& line : plain_lines(text)) widest = std::max(widest, display_width(line));
  return widest;
}

TEST(Elide, FitsItsColumns) {
  EXPECT_EQ(elide_columns("abc", 3), "abc");
  EXPECT_EQ(elide_columns("abcd", 3), "ab\u2026");
  EXPECT_EQ(elide_columns("\u6211\u4EEC\u559C", 4), "\u6211\u2026");      // a wide character is never halved
  EXPECT_EQ(elide_columns("e\u0301e\u0301e\u0301", 2), "e\u0301\u2026");  // nor an accent lost
  EXPECT_EQ(elide_columns("abc", 0), "");
  EXPECT_EQ(fit_left("ab", 4), "ab  ");
  EXPECT_EQ(fit_right("\u6211", 4), "  \u6211");
}

TEST(Downward, CharactersWithTheirMarks) {
  EXPECT_THAT(downward_characters("ae\u0301b", 5), ElementsAre("a", "e\u0301", "b"));
  EXPECT_THAT(downward_characters("abcd", 3), ElementsAre("a", "b", "\u2026"));
}

TEST(TerminalColours, FromTheEnvironment) {
  EXPECT_EQ(terminal_colours({nullptr, "truecolor", "xterm", true}), TerminalColours::kTrueColour);
  EXPECT_EQ(terminal_colours({nullptr, nullptr, "xterm-256color", true}), TerminalColours::k256);
  EXPECT_EQ(terminal_colours({"1", "truecolor", "xterm", true}), TerminalColours::kNone);
  EXPECT_EQ(terminal_colours({"", "24bit", "xterm", true}), TerminalColours::kTrueColour);  // NO_COLOR unset
  EXPECT_EQ(terminal_colours({nullptr, "truecolor", "xterm", false}), TerminalColours::kNone);
  EXPECT_EQ(terminal_colours({nullptr, nullptr, "dumb", true}), TerminalColours::kNone);
}

TEST(AttentionTerminal, Golden) {
  Trace trace;
  trace.source = "Ja, gut.";
  trace.source_tokens = {"\u2581Ja", ",", "\u2581gut", ".", "</s>"};
  trace.target_tokens = {"\u2581Yes", "</s>"};
  trace.cross = {{{2, 5, {0.75F, 0.04F, 0.06F, 0.1F, 0.05F, 0, 0, 0.25F, 0.25F, 0.5F}}}};
  EXPECT_EQ(attention_terminal(trace),
            "source: Ja, gut.\n"
            "\n"
            "cross layer 1\n"
            "rows: target tokens (queries); columns: source tokens (keys)\n"
            "\n"
            "      Head 1\n"
            "              \u27E8\n"
            "          \u2581   e\n"
            "      \u2581   g   n\n"
            "      J   u   d\n"
            "      a , t . \u27E9\n"
            " \u2581Yes \u2588\u2588  \u2591\u2591\u2591\u2591\u2591\u2591\n"
            "\u27E8end\u27E9     \u2592\u2592\u2592\u2592\u2593\u2593\n"
            "\n"
            "weight: \u2591 0.05 \u2592 0.2 \u2593 0.4 \u2588 0.7+\n");
}

TEST(AttentionTerminal, GoldenWithValues) {
  Trace trace;
  trace.target_tokens = {"\u2581a", "</s>"};
  trace.decoder = {{{2, 2, {1, 0, 0.375F, 0.625F}}}};
  TerminalOptions options;
  options.values = true;
  EXPECT_EQ(attention_terminal(trace, options),
            "\n"
            "decoder layer 1\n"
            "rows: target tokens (queries); columns: previous target tokens (keys)\n"
            "\n"
            "      Head 1\n"
            "         \u27E8\n"
            "         s\n"
            "         t\n"
            "         a\n"
            "         r\n"
            "         t   \u2581\n"
            "         \u27E9   a\n"
            "   \u2581a \u2588100   0\n"
            "\u27E8end\u27E9 \u2592 38\u2593 62\n"
            "\n"
            "weight: \u2591 0.05 \u2592 0.2 \u2593 0.4 \u2588 0.7+\n");
}

TEST(AttentionTerminal, NeverWiderThanTheTerminal) {
  for (const int tokens : {1, 2, 5, 13, 40, 120}) {
    const Trace trace =
        testing::make_trace(testing::make_tokens(tokens), testing::make_tokens(tokens + 2), 1, 8);
    for (const int columns : {20, 33, 80, 200}) {
      for (const TerminalColours colours :
           {TerminalColours::kNone, TerminalColours::k256, TerminalColours::kTrueColour}) {
        for (const bool values : {false, true}) {
          TerminalOptions options;
          options.columns = columns;
          options.colours = colours;
          options.values = values;
          EXPECT_LE(widest_line(attention_terminal(trace, options)), columns) << tokens << " tokens";
        }
      }
    }
  }
}

TEST(AttentionTerminal, EveryWeightIsShownOnce) {
  // All weight is on the diagonal: one dark cell for each query, in whichever part its key stands.
  const int count = 60;
  Trace trace;
  trace.source_tokens.assign(count, "x");
  AttentionMatrix matrix{count, count, std::vector<float>(count * count)};
  for (int n = 0; n < count; ++n) matrix.weights[n * count + n] = 1;
  trace.encoder = {{matrix}};
  TerminalOptions options;
  options.columns = 30;
  const std::string text = attention_terminal(trace, options);
  EXPECT_THAT(text, HasSubstr("keys 1 to 28"));
  EXPECT_THAT(text, HasSubstr("keys 57 to 60"));
  const std::string body = text.substr(0, text.find("weight:"));
  int dark = 0;
  for (size_t at = body.find("\u2588"); at != std::string::npos; at = body.find("\u2588", at + 1)) ++dark;
  EXPECT_EQ(dark, count);
}

TEST(AttentionTerminal, ColoursOnlyIfEnabled) {
  const Trace trace = testing::make_trace({"a\x1b[2J", "</s>"}, {"b", "</s>"}, 1, 1);
  TerminalOptions options;
  EXPECT_THAT(attention_terminal(trace, options), Not(HasSubstr("\x1b")));
  options.colours = TerminalColours::kTrueColour;
  EXPECT_THAT(attention_terminal(trace, options), HasSubstr("\x1b[48;2;"));
  EXPECT_THAT(attention_terminal(trace, options), Not(HasSubstr("\x1b[2J")));
  options.colours = TerminalColours::k256;
  EXPECT_THAT(attention_terminal(trace, options), HasSubstr("\x1b[48;5;"));
}

// As in pictures: white is a weight of 0, the darkest blue 1, and the legend says so.
TEST(AttentionTerminal, DarkerMeansMore) {
  Trace trace;
  trace.source_tokens = {"a", "b"};
  trace.encoder = {{AttentionMatrix{2, 2, {1, 0, 0.5f, 0.5f}}}};
  TerminalOptions options;
  options.colours = TerminalColours::kTrueColour;
  const std::string text = attention_terminal(trace, options);
  const size_t first = text.find("\x1b[48;2;");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(text.find("\x1b[48;2;8;48;107m"), first);
  EXPECT_EQ(text.find("\x1b[48;2;", first + 1), text.find("\x1b[48;2;255;255;255m"));
  EXPECT_THAT(text, HasSubstr("attention weight: 0 "));
  EXPECT_THAT(text, HasSubstr(" 1 (darker: more)\n"));
}

TEST(AttentionTerminal, RefusesInvalidTraces) {
  Trace trace = testing::make_trace({"a", "</s>"}, {"b", "</s>"}, 1, 1);
  EXPECT_THROW(attention_terminal(Trace{}), Error);
  TerminalOptions narrow;
  narrow.columns = 19;
  EXPECT_THROW(attention_terminal(trace, narrow), Error);
  trace.cross[0][0].weights[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW(attention_terminal(trace), Error);
}

TEST(CurveTerminal, Golden) {
  CurveTerminalOptions options;
  options.columns = 30;
  options.rows = 8;
  options.x_name = "step";
  EXPECT_EQ(curve_terminal({{"", {0, 10, 20}, {0, 1, 0}}}, options), R"(  1 ┤          ⢀⠔⠚⠢⡀
    │       ⢀⡠⠊⠁   ⠈⠑⢄⡀
0.5 ┤     ⡠⠔⠁         ⠈⠢⢄
    │  ⢀⡠⠋               ⠙⢄⡀
  0 ┤⡠⠔⠁                   ⠈⠢⢄
    └┬───────────┬───────────┬
     0          10          20
               step
)");
}

TEST(CurveTerminal, MarkedPointsStandOut) {
  CurveTerminalOptions options;
  options.columns = 30;
  options.rows = 10;
  const Curve line{"line", {0, 10, 20}, {0, 1, 0}};
  const auto count = [&](const std::vector<Curve>& curves) {
    const std::string text = curve_terminal(curves, options);
    size_t marks = 0;
    for (size_t at = text.find("\u25cf"); at != std::string::npos; at = text.find("\u25cf", at + 1)) ++marks;
    return marks;
  };
  EXPECT_EQ(count({line}), 0u);
  EXPECT_EQ(count({line, {.name = "best", .x = {10}, .y = {1}, .marked = true}}), 2u);  // and in the legend
}

TEST(CurveTerminal, FitsItsSize) {
  Curve loss{"loss", {}, {}}, bleu{"\u6211\u4EEC BLEU", {}, {}};
  for (int n = 1; n < 3000; ++n) {
    loss.x.push_back(n);
    loss.y.push_back(n == 700 ? std::nan("") : 2 + std::exp(-n / 300.0) + 0.1 * std::sin(n));
    if (n % 100 == 0) {
      bleu.x.push_back(n);
      bleu.y.push_back(n / 100.0);
    }
  }
  for (const int columns : {30, 80, 131}) {
    for (const int rows : {8, 16, 40}) {
      for (const auto& curves : {std::vector<Curve>{loss}, std::vector<Curve>{loss, bleu}}) {
        for (const AxisScale scale : {AxisScale::kLinear, AxisScale::kLogarithmic}) {
          CurveTerminalOptions options;
          options.columns = columns;
          options.rows = rows;
          options.title = "A title of some length that may not fit";
          options.x_name = "step";
          options.x_scale = options.y_scale = scale;
          const std::string text = curve_terminal(curves, options);
          EXPECT_LE(widest_line(text), columns);
          EXPECT_LE(static_cast<int>(plain_lines(text).size()), rows);
          EXPECT_THAT(text, Not(HasSubstr("\x1b")));
        }
      }
    }
  }
}

TEST(CurveTerminal, RefusesInvalidCurves) {
  EXPECT_THROW(curve_terminal({}), Error);
  CurveTerminalOptions options;
  options.rows = 4;
  EXPECT_THROW(curve_terminal({{"a", {1}, {1}}}, options), Error);
  options.rows = 16;
  options.y_scale = AxisScale::kLogarithmic;
  EXPECT_THROW(curve_terminal({{"a", {1}, {-1}}}, options), Error);
}

}  // namespace
}  // namespace heed
