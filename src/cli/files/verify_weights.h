// heed info --verify: compares the weight files of a directory with the hashes or checksums in them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/files/model_inventory.h"

namespace heed::cli {

enum class FileState { kVerified, kWithoutHash, kDamaged };

struct VerifiedFile {
  std::string name;  ///< relative to the directory
  FileState state = FileState::kVerified;
  std::string damage{};  ///< error message
};

/// Verifies every file of a directory in safetensors or of PyTorch, and those in its training/; model.bin of
/// CTranslate2, which has no hashes, is read except for its weights. If none is damaged, throws the errors of
/// WeightFiles::open(), such as missing files.
std::vector<VerifiedFile> verify_weights(const ModelInventory& model);

bool any_damaged(const std::vector<VerifiedFile>& files);
nlohmann::ordered_json to_json(const std::vector<VerifiedFile>& files);
/// One line per file.
std::string to_text(const std::vector<VerifiedFile>& files);

}  // namespace heed::cli
