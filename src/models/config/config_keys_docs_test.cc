// docs/config-keys.md says which keys of config.json each type of model has. It is what the descriptions of
// the families say; with HEED_WRITE_DOCS=1, the test writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "models/architecture.h"
#include "models/config/config_keys.h"
#include "paths.h"

namespace heed::models {
namespace {

constexpr const char *kBegin = "<!-- keys: begin -->\n", *kEnd = "<!-- keys: end -->\n";

std::string row_of(const std::string& type, KnownKeys keys, const std::set<std::string>& left_out) {
  const auto list = [&](std::vector<std::string> names) {
    std::ranges::sort(names);
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::erase_if(names, [&](const std::string& name) { return left_out.contains(name); });
    return names.empty() ? std::string() : fmt::format("`{}`", fmt::join(names, "` `"));
  };
  std::vector<std::string> neutral;
  for (const NeutralKey& key : keys.neutral) {
    std::vector<std::string> values{};
    for (const nlohmann::json& value : key.values) values.push_back(value.dump());
    neutral.push_back(
        fmt::format("{}: {}", key.key, values.empty() ? "null" : fmt::format("{}", fmt::join(values, ", "))));
  }
  return fmt::format("| {} | {} | {} | {} |\n", type, list(keys.read), list(neutral), list(keys.ignored));
}

std::string table() {
  std::string text =
      "| `model_type` | read | accepted with this value, or null | without effect |\n| --- | --- | --- | --- "
      "|\n";
  const std::vector<std::string> generation = all_names(generation_keys());
  text += row_of("all", with_common_keys({}), {generation.begin(), generation.end()});
  for (const Architecture& architecture : architectures()) {
    for (const std::string& type : architecture.model_types) {
      text += row_of("`" + type + "`", architecture.keys(type), {});
    }
  }
  return text;
}

TEST(ConfigKeys, DocsHaveThoseOfTheDescriptions) {
  const std::string path = source_folder() + "/docs/config-keys.md", page = read_file(path);
  const size_t begin = page.find(kBegin), end = page.find(kEnd);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos && begin < end);
  const size_t from = begin + std::string(kBegin).size();
  if (std::getenv("HEED_WRITE_DOCS") != nullptr) {
    write_file(path, page.substr(0, from) + table() + page.substr(end));
    GTEST_SKIP() << "wrote " << path;
  }
  EXPECT_EQ(page.substr(from, end - from), table())
      << path << " does not have the keys that the descriptions have: run this test with HEED_WRITE_DOCS=1";
}

TEST(ConfigKeys, EveryTypeHasKeys) {
  for (const Architecture& architecture : architectures()) {
    for (const std::string& type : architecture.model_types) {
      const KnownKeys keys = architecture.keys(type);
      const auto vocabulary = std::ranges::count(keys.read, "vocab_size");
      EXPECT_EQ(vocabulary, 1) << type;
    }
  }
}

}  // namespace
}  // namespace heed::models
