// Test helper: reads what commands write with --json.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace heed {

/// The objects of a text with one in each line.
inline std::vector<nlohmann::json> objects_of(const std::string& text) {
  std::vector<nlohmann::json> objects;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) objects.push_back(nlohmann::json::parse(line));
  return objects;
}

}  // namespace heed
