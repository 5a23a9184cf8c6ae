#include "cli/files/verify_weights.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/check.h"
#include "base/files/model_inventory.h"
#include "base/text/json_file.h"
#include "base/text/json_text.h"
#include "io/ctranslate2_file.h"
#include "io/weight_files.h"
#include "models/formats/ctranslate2_model.h"

namespace heed::cli {
namespace {

const char* name_of(FileState state) {
  switch (state) {
    case FileState::kVerified:
      return "verified";
    case FileState::kWithoutHash:
      return "no hash stored";
    case FileState::kDamaged:
      return "damaged";
  }
  HEED_CHECK(false);
}

VerifiedFile verify(const std::string& path, const std::string& name) {
  try {
    const std::unique_ptr<TensorReader> file = open_weight_file(path);
    if (!file->has_hashes()) return {name, FileState::kWithoutHash};
    file->verify();
    return {name, FileState::kVerified};
  } catch (const Error& error) {
    return {name, FileState::kDamaged, error.what()};
  }
}

/// CTranslate2's file has no hashes: it is complete, or damaged.
VerifiedFile check_ctranslate2(const std::string& path, const std::string& name) {
  try {
    Ctranslate2File::open(path);
    return {name, FileState::kWithoutHash};
  } catch (const Error& error) {
    return {name, FileState::kDamaged, error.what()};
  }
}

bool is_of_ctranslate2(const ModelInventory& model) {
  return model.has(model_file::kCtranslate2) &&
         models::is_ctranslate2_directory(model, JsonObject::read(model.path(model_file::kConfig)));
}

}  // namespace

std::vector<VerifiedFile> verify_weights(const ModelInventory& model) {
  constexpr const char *kEnding = ".safetensors", *kTraining = "training";
  std::vector<std::string> names = model.ending_in({kEnding});
  const std::string_view torch = model_file::kPyTorch, ending = torch.substr(torch.find('.'));
  for (const std::string& name : model.ending_in({std::string(ending)})) {  // one file, or shards
    if (name.starts_with(torch.substr(0, torch.size() - ending.size()))) names.push_back(name);
  }
  for (const std::string& name : ModelInventory(model.path(kTraining)).ending_in({kEnding})) {
    names.push_back(kTraining + ("/" + name));
  }
  std::sort(names.begin(), names.end());
  std::vector<VerifiedFile> files;
  for (const std::string& name : names) files.push_back(verify(model.path(name), name));
  if (is_of_ctranslate2(model)) {
    const char* name = model_file::kCtranslate2;
    files.push_back(check_ctranslate2(model.path(name), name));
    return files;
  }
  if (!any_damaged(files)) WeightFiles::open(model);  // throws if a file of the index is missing
  return files;
}

bool any_damaged(const std::vector<VerifiedFile>& files) {
  return std::ranges::any_of(files,
                             [](const VerifiedFile& each) { return each.state == FileState::kDamaged; });
}

nlohmann::ordered_json to_json(const std::vector<VerifiedFile>& files) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const VerifiedFile& each : files) {
    json.push_back({{"name", shown(each.name)}, {"state", name_of(each.state)}});
    if (!each.damage.empty()) json.back()["damage"] = each.damage;
  }
  return json;
}

std::string to_text(const std::vector<VerifiedFile>& files) {
  size_t longest = 0;
  for (const VerifiedFile& each : files) longest = std::max(longest, each.name.size());
  std::string text;
  for (const VerifiedFile& each : files) {
    text += fmt::format("{:<{}}  {}\n", shown(each.name), longest, name_of(each.state));
    if (!each.damage.empty()) text += fmt::format("  {}\n", each.damage);
  }
  return text;
}

}  // namespace heed::cli
