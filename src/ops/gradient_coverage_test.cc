// No derivative without a check: see gradient_test.h.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "paths.h"

namespace heed::ops {
namespace {

const std::string kSuite = "GradientCheck_";
const std::string kWordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/// The word that a line begins with, where it is followed by `next`.
std::string first_word(const std::string& line, const std::string& next) {
  const size_t end = line.find_first_not_of(kWordCharacters);
  if (end == std::string::npos || end == 0 || line.compare(end, next.size(), next) != 0) return {};
  return line.substr(0, end);
}

/// The functions with a Var in what they return, and how many of each name there are. A header is ours and
/// formatted, so lines can be trusted: `Var name(`, or `Result name(` with a struct Result that has a member
/// `Var`.
std::map<std::string, int> differentiable_functions(const std::vector<std::string>& lines) {
  const std::string structure = "struct ", member = "  Var ";
  std::set<std::string> results{"Var"};
  std::string open;
  for (const std::string& line : lines) {
    if (line.starts_with(structure)) open = first_word(line.substr(structure.size()), " {");
    if (!open.empty() && line.starts_with(member)) results.insert(open);
    if (line.starts_with("};")) open.clear();
  }
  std::map<std::string, int> functions;
  for (const std::string& line : lines) {
    const std::string result = first_word(line, " ");
    if (!results.contains(result)) continue;
    const std::string function = first_word(line.substr(result.size() + 1), "(");
    if (!function.empty()) ++functions[function];
  }
  return functions;
}

std::map<std::string, int> checks_in_this_program() {
  std::map<std::string, int> checks;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int n = 0; n < program.total_test_suite_count(); ++n) {
    const testing::TestSuite& suite = *program.GetTestSuite(n);
    const std::string name = suite.name();
    if (name.starts_with(kSuite)) checks[name.substr(kSuite.size())] = suite.total_test_count();
  }
  return checks;
}

TEST(GradientCoverage, EveryOpHasACheckOfItsDerivative) {
  const std::filesystem::path folder = std::filesystem::path(source_folder()) / "src" / "ops";
  const std::map<std::string, int> checks = checks_in_this_program();
  std::map<std::string, int> functions;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".h") continue;
    std::vector<std::string> lines;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    for (const auto& [name, count] : differentiable_functions(lines)) {
      functions[name] += count;
      const auto found = checks.find(name);
      EXPECT_GE(found == checks.end() ? 0 : found->second, count)
          << entry.path().filename() << " declares " << name << " " << count
          << " time(s); each needs a GRADIENT_CHECK(" << name << ", ...), see src/ops/gradient_test.h";
    }
  }
  EXPECT_GE(functions.size(), 5u) << "the headers were not understood";
  for (const auto& [name, count] : checks) {
    EXPECT_TRUE(functions.contains(name)) << "GRADIENT_CHECK(" << name << ", ...) checks no op of that name";
  }
}

TEST(GradientCoverage, FindsWhatReturnsAVar) {
  const auto functions = differentiable_functions(
      {"struct Loss {", "  Var loss;", "  int tokens = 0;", "};", "struct Options {", "  double scale = 1;",
       "};", "Var twice(const Var& x);", "Var twice(const Var& x, int n);", "Loss lose(const Var& x);",
       "Options options_for(const Var& x);", "/// Var commented(", "  Var method(int x);"});
  EXPECT_EQ(functions, (std::map<std::string, int>{{"twice", 2}, {"lose", 1}}));
}

}  // namespace
}  // namespace heed::ops
