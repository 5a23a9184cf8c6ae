// The part of YAML in which Marian writes its options and vocabularies: one mapping of keys to scalars or
// lists of scalars, without nesting.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// A scalar is a list of one string. Values keep no types: "~" and "null" are those words.
using FlatYaml = std::map<std::string, std::vector<std::string>>;

/// Parses `key: value`, `key: [a, b]`, and `key:` followed by lines `- value`, with scalars plain or quoted;
/// comments and document markers are skipped. Throws kFormat with `origin` and the line for anything else, a
/// duplicate key, or invalid UTF-8.
FlatYaml parse_flat_yaml(std::string_view text, const std::string& origin);

/// Parses a vocabulary: lines `piece: id`, or `? piece` and `: id`, where a plain piece may contain colons.
/// The pieces in id order; ids must be 0 to n - 1. Throws kFormat.
std::vector<std::string> parse_yaml_vocabulary(std::string_view text, const std::string& origin);

}  // namespace heed
