// Reference cases for tests: inputs, and expected outputs computed by other libraries. They are in the
// directory of the environment variable HEED_FIXTURES, by default ../shared/fixtures next to the sources. A
// case is a directory with case.json (settings, ids, texts, tolerances) and usually tensors.safetensors. A
// test lists the cases, reads all sizes and settings from them, and is skipped if the directory is missing:
//
//   TEST(LayerNorm, AgreesWithTheReference) {
//     const auto cases = fixture_cases("ops/layer_norm");
//     if (cases.empty()) GTEST_SKIP() << missing_fixtures();
//     for (const std::string& name : cases) {
//       const ReferenceCase reference(name);
//       const Tensor output = layer_norm(reference.tensor("input.x"), ...,
//       reference.json()["hyperparameters"]["eps"]); expect_close(output,
//       reference.tensor("expected.output"), reference.tolerance("expected.output", "float64"),
//                    name);
//     }
//   }
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "compare.h"
#include "heed/tensor.h"
#include "io/safetensors/safetensors.h"
#include "paths.h"

namespace heed {

inline std::filesystem::path fixtures_folder() {
  const char* folder = std::getenv("HEED_FIXTURES");
  if (folder != nullptr && *folder != '\0') return folder;
  return std::filesystem::path(source_folder()) / ".." / "shared" / "fixtures";
}

/// The cases of model families and file formats, in the same layout: the directory of HEED_FAMILIES, by
/// default ../shared/families.
inline std::filesystem::path families_folder() {
  const char* folder = std::getenv("HEED_FAMILIES");
  if (folder != nullptr && *folder != '\0') return folder;
  return std::filesystem::path(source_folder()) / ".." / "shared" / "families";
}

/// The message of skipped tests.
inline std::string missing_fixtures() {
  return "no reference cases in '" + fixtures_folder().string() + "'; HEED_FIXTURES can name another folder";
}
inline std::string missing_families() {
  return "no reference cases in '" + families_folder().string() + "'; HEED_FAMILIES can name another folder";
}

/// The sorted names of all cases at or below `prefix` ("mha", "ops/softmax", "" for all). Empty only if the
/// whole directory is missing; throws if no case has the prefix.
inline std::vector<std::string> fixture_cases(const std::string& prefix,
                                              const std::filesystem::path& root = fixtures_folder()) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  if (!fs::is_directory(root)) return names;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().filename() != "case.json") continue;
    const std::string name = fs::relative(entry.path().parent_path(), root).generic_string();
    if (prefix.empty() || name == prefix || name.starts_with(prefix + "/")) names.push_back(name);
  }
  if (names.empty()) throw std::runtime_error("no reference case is called '" + prefix + "'");
  std::sort(names.begin(), names.end());
  return names;
}

/// One case, or another pair of files in its folder: ReferenceCase("marian", "train_step") is train_step.json
/// with train_step.safetensors.
class ReferenceCase {
 public:
  explicit ReferenceCase(const std::string& name, const std::string& part = "",
                         const std::filesystem::path& root = fixtures_folder())
      : name_(part.empty() ? name : name + "/" + part), folder_(root / name) {
    std::ifstream file(folder_ / (part.empty() ? "case.json" : part + ".json"));
    json_ = nlohmann::json::parse(file);
    const auto tensors = folder_ / (part.empty() ? "tensors.safetensors" : part + ".safetensors");
    if (std::filesystem::exists(tensors)) tensors_ = SafetensorsReader::open(tensors.string());
  }

  const std::string& name() const { return name_; }
  /// For files beside case.json: folder() / "model".
  const std::filesystem::path& folder() const { return folder_; }
  const nlohmann::json& json() const { return json_; }
  const nlohmann::json& hyperparameters() const { return json_.at("hyperparameters"); }

  bool has(const std::string& tensor) const { return tensors_ && tensors_->has(tensor); }
  /// A tensor in the type of the file: float64 for single operations, int64 for ids, uint8 for masks.
  Tensor tensor(const std::string& tensor) const { return tensors_.value().read(tensor); }
  Tensor tensor(const std::string& tensor, DType dtype) const {
    return tensors_.value().read(tensor).to(dtype);
  }
  /// The names of all tensors with a prefix: tensor_names("gradient.").
  std::vector<std::string> tensor_names(const std::string& prefix = "") const {
    std::vector<std::string> names;
    for (const TensorInfo& info : tensors_.value().infos()) {
      if (info.name.starts_with(prefix)) names.push_back(info.name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  /// The suggested absolute tolerance for arithmetic in "float32" or "float64".
  double tolerance(const std::string& tensor, const std::string& precision) const {
    return json_.at("tensors").at(tensor).at("tolerance").at(precision).get<double>();
  }
  double tolerance(const std::string& tensor, DType precision) const {
    return tolerance(tensor, name_of(precision));
  }

 private:
  std::string name_;
  std::filesystem::path folder_;
  nlohmann::json json_;
  std::optional<SafetensorsReader> tensors_;
};

inline std::vector<int32_t> ids_of(const nlohmann::json& ids) {
  return ids.get<std::vector<int32_t>>();
}

/// test(Case(name)) for each case of a kind of models in families_folder(); skips the test if there is none.
template <typename Case, typename Test>
void for_each_model_case(const std::string& kind, const Test& test) {
  const auto cases = fixture_cases(kind, families_folder());
  if (cases.empty()) GTEST_SKIP() << missing_families();
  for (const std::string& name : cases) {
    SCOPED_TRACE(name);
    test(Case(name));
  }
}

}  // namespace heed
