// Reads merges.txt: a merge of two pieces in each line, in order, after an optional "#version: 0.2".
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heed {

/// A merge of two pieces as the vocabulary spells them.
using WrittenMerge = std::pair<std::string, std::string>;

/// Throws kNotFound, kFile, or kFormat with file and line.
std::vector<WrittenMerge> read_merges(const std::string& path);

}  // namespace heed
