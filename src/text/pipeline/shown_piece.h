// How pieces are shown to people.
#pragma once

#include <string>
#include <string_view>

namespace heed {

/// Bytes as text: "▁" marks spaces, and bytes that are no printable character are escaped as "<0x0A>".
std::string shown_piece(std::string_view bytes);

}  // namespace heed
