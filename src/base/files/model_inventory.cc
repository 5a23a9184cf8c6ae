#include "base/files/model_inventory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files/directory_listing.h"

namespace heed {

namespace fs = std::filesystem;

ModelInventory::ModelInventory(std::string directory) : directory_(std::move(directory)) {
  std::error_code error;
  const fs::file_status status = fs::status(directory_, error);
  if (!fs::is_directory(status)) {
    kind_ = fs::exists(status) ? Kind::kFile : Kind::kNothing;
    return;
  }
  kind_ = Kind::kDirectory;
  names_ = names_in(directory_);
}

bool ModelInventory::has_any(const std::vector<std::string>& names) const {
  return std::ranges::any_of(names, [&](const std::string& name) { return has(name); });
}

std::string ModelInventory::path(std::string_view name) const {
  return (fs::path(directory_) / name).string();
}

std::vector<std::string> ModelInventory::ending_in(const std::vector<std::string>& endings) const {
  std::vector<std::string> found;
  for (const std::string& name : names_) {
    const auto matches = [&](const std::string& ending) { return name.ends_with(ending); };
    if (std::ranges::any_of(endings, matches)) found.push_back(name);
  }
  return found;
}

}  // namespace heed
