// Validates a SentencePiece normalization table, so that lookups never leave it.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Describes the fault in a `precompiled_charsmap`; empty if it is valid. The table consists of the trie size
/// in bytes (32 bits), the trie (a double array of 32-bit units), and zero-terminated replacement strings.
std::string find_charsmap_fault(std::string_view table);

}  // namespace heed
