// Lists of strings in files: vocabularies of CTranslate2.
#pragma once

#include <string>
#include <vector>

#include "base/files/model_inventory.h"

namespace heed {

/// The name of the file that holds a list: NAME.json, an array of strings, or, if only that is there,
/// NAME.txt, one string a line.
std::string string_list_file(const ModelInventory& files, const std::string& name);
bool has_string_list(const ModelInventory& files, const std::string& name);
/// Throws kNotFound, kFile or kFormat.
std::vector<std::string> read_string_list(const ModelInventory& files, const std::string& name);

}  // namespace heed
