// Test helper: folders of the cases written by reference implementations.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/files/file.h"
#include "paths.h"

namespace heed {

/// The folder of reference fixtures; may not exist.
inline std::filesystem::path fixtures_folder() {
  const char* folder = std::getenv("HEED_FIXTURES");
  return folder && *folder ? folder : source_folder() + "/../shared/fixtures";
}

/// This project's golden files for text.
inline std::filesystem::path golden_folder() {
  return source_folder() + "/src/text/golden";
}

/// The case.json files one level below a folder, sorted by name; empty if the folder does not exist.
inline std::vector<std::filesystem::path> case_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (std::filesystem::exists(entry.path() / "case.json")) files.push_back(entry.path() / "case.json");
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline nlohmann::json read_json(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_file(path.string()));
}

/// The folder of the cases of model families; may not exist.
inline std::filesystem::path families_folder() {
  const char* folder = std::getenv("HEED_FAMILIES");
  return folder && *folder ? folder : source_folder() + "/../shared/families";
}

}  // namespace heed
