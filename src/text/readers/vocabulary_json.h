// The file vocab.json of many tokenizers: an object of pieces and their ids.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Throws kFormat: the file `name` is no vocabulary.
[[noreturn]] void not_a_vocabulary(const std::string& name, std::string_view what);

/// Parses `vocab.json`; pieces in id order. Ids must be 0 to n-1, without gaps or duplicates. Throws kFormat
/// with `name` (the file) and the piece.
std::vector<std::string> read_vocabulary(std::string_view json, const std::string& name);
/// Sorted by id, in ASCII with \u escapes, like Hugging Face.
std::string vocabulary_json(const std::vector<std::string>& pieces);

}  // namespace heed
