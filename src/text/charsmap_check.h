// Whether a SentencePiece normalisation table can be searched without leaving it.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// What is wrong with a `precompiled_charsmap`; empty if nothing is. The table is the size of a trie in bytes
/// (32 bits), the trie (a double array of 32-bit units), and the replacements, texts ended by a zero byte.
std::string find_charsmap_fault(std::string_view table);

}  // namespace heed
