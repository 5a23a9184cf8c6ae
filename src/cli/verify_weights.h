// heed info --verify: whether the files of weights in a directory are as they were written.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace heed::cli {

enum class FileState { kVerified, kWithoutHash, kDamaged };

struct VerifiedFile {
  std::string name;  ///< inside the directory
  FileState state = FileState::kVerified;
  std::string damage{};  ///< what is wrong
};

/// Reads every safetensors file of a directory, and of training/ in it, whole. Throws what
/// WeightFiles::open() throws where none is damaged but weights are missing.
std::vector<VerifiedFile> verify_weights(const std::string& directory);

bool any_damaged(const std::vector<VerifiedFile>& files);
nlohmann::ordered_json to_json(const std::vector<VerifiedFile>& files);
/// A line for each file.
std::string to_text(const std::vector<VerifiedFile>& files);

}  // namespace heed::cli
