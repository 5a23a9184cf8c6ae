#include "inspect/explorer/explorer_page.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "heed/error.h"
#include "inspect/explorer/web_files.h"
#include "inspect/trace/test_traces.h"

namespace heed {
namespace {

Trace small_trace() {
  return testing::make_trace({"\u2581a", "\u2581</script><b>", "</s>"}, {"\u2581x", "</s>"}, 1, 2);
}

TEST(ExplorerPage, IsSelfContained) {
  const std::string page = explorer_page({small_trace(), small_trace()});
  EXPECT_NE(page.find("Content-Security-Policy\" content=\"default-src 'none'"), std::string::npos);
  for (const char* part : {"src=\"", "<link", "@import", "url(", "https://"}) {
    EXPECT_EQ(page.find(part), std::string::npos) << part;
  }
}

TEST(ExplorerPage, TextIsNeverMarkup) {
  const std::string page = explorer_page({small_trace()}, {.command = "heed serve --model '<b>'"});
  EXPECT_EQ(page.find("<b>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>\\u003cb>"), std::string::npos);
}

TEST(ExplorerPage, NeedsATraceWithAttention) {
  EXPECT_THROW(explorer_page({}), Error);
  EXPECT_THROW(explorer_page({Trace{}}), Error);
}

/// Browsers reject modules that are used before their definition or defined twice.
TEST(ExplorerPage, ModulesAreDefinedOnceBeforeUse) {
  const std::string script = bundle_modules("main.js");
  std::set<std::string> made;
  size_t uses = 0;
  for (size_t at = script.find("module_"); at != std::string::npos; at = script.find("module_", at + 1)) {
    const std::string name = script.substr(at, script.find_first_of(" ;", at) - at);
    if (script.compare(at - 6, 6, "const ") == 0) {
      EXPECT_TRUE(made.insert(name).second) << name;
    } else {
      EXPECT_TRUE(made.contains(name)) << name;
      ++uses;
    }
  }
  EXPECT_GT(uses, 10u);
  EXPECT_EQ(script.find("\nimport "), std::string::npos);
  EXPECT_EQ(script.find("\nexport "), std::string::npos);
}

/// Comments are no part of the page, whose size counts; types within a line of code stay.
TEST(ExplorerPage, HasNoLinesOfComments) {
  std::istringstream script(bundle_modules("main.js"));
  size_t types = 0;
  for (std::string line; std::getline(script, line);) {
    const std::string text = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    for (const char* begin : {"//", "/**\n", "* @", "*/"}) {
      EXPECT_FALSE((text + "\n").starts_with(begin)) << line;
    }
    types += text.find("/** @type") != std::string::npos;
  }
  EXPECT_GT(types, 10u);
}

TEST(WebFiles, AreThereWithTheirTypes) {
  ASSERT_NE(find_web_file("index.html"), nullptr);
  EXPECT_EQ(find_web_file("index.html")->type, "text/html; charset=utf-8");
  ASSERT_NE(find_web_file("views/lines.js"), nullptr);
  EXPECT_EQ(find_web_file("views/lines.js")->type, "text/javascript; charset=utf-8");
  EXPECT_EQ(find_web_file("../CMakeLists.txt"), nullptr);
  EXPECT_EQ(find_web_file(""), nullptr);
}

}  // namespace
}  // namespace heed
