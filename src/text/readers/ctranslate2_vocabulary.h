// The vocabularies of CTranslate2: lists of pieces by id, in JSON or one per line.
#pragma once

#include <string>
#include <vector>

#include "base/files/model_inventory.h"

namespace heed {

inline constexpr const char* kSharedVocabulary = "shared_vocabulary";

/// The list `name` (without the suffix of its file). They lack the padding token, which is appended. Throws
/// kNotFound, kFile, or kFormat.
std::vector<std::string> read_ctranslate2_vocabulary(const ModelInventory& files, const std::string& name,
                                                     const std::string& pad);

}  // namespace heed
