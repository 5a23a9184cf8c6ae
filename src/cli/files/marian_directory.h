// Models of Marian: finds their files, and presents them as a Marian model of Hugging Face's library.
#pragma once

#include <string>

#include "cli/files/imported_model.h"

namespace heed::cli {

/// Whether a path is an .npz file, or a directory with one and without a config.json.
bool is_marian_model(const ModelInventory& files);

/// The model at such a path, with the files that decoder.yml names, or the only ones of their type. Throws
/// kNotFound, kFile or kFormat, with advice on what is missing.
ImportedModel import_marian(const std::string& path);

}  // namespace heed::cli
