// Lists of strings in files: vocabularies of CTranslate2.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// Whether there is PATH.json or PATH.txt.
bool has_string_list(const std::string& path);
/// Reads PATH.json, an array of strings, or else PATH.txt, one string a line. Throws kNotFound, kFile or
/// kFormat.
std::vector<std::string> read_string_list(const std::string& path);

}  // namespace heed
