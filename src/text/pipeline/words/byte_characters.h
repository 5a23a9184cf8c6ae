// The printable characters that byte-level tokenizers write bytes as (Radford et al., 2019): itself if
// printable in Latin-1, else the next free character from U+0100 ("Ġ" is the space).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// The character of each byte, in UTF-8; and the bytes in the order of their characters.
const std::vector<std::string>& characters_of_bytes();
std::vector<unsigned char> bytes_in_character_order();

/// " God" -> "ĠGod".
std::string characters_of(std::string_view bytes);
/// "ĠGod" -> " God"; empty if a character represents no byte.
std::optional<std::string> bytes_of_characters(std::string_view characters);

}  // namespace heed
