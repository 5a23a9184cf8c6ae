// Reads whole texts that users give.
#pragma once

#include <string>

namespace heed {

/// The bytes of a file, a pipe or standard input ("-"), decompressed. Throws what ByteSource throws.
std::string read_whole_text(const std::string& path);

}  // namespace heed
