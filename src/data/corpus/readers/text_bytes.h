// Bytes that a text of users must not have: NUL, and what is not UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heed {

bool is_text(std::string_view bytes);

/// Throws the error for a line that is not text: kFormat for a NUL byte, else kText. `name` is that of its
/// file, as ByteSource::name() has it.
[[noreturn]] void refuse_line(std::string_view line, uint64_t number, const std::string& name);

/// With U+FFFD for each NUL byte and each ill-formed sequence, as --lossy asks for.
std::string replace_what_is_no_text(std::string_view bytes);

}  // namespace heed
