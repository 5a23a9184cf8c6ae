// Reads whole texts that users give.
#pragma once

#include <string>

namespace heed {

/// The text of a file, a pipe or standard input ("-"), decompressed. Throws what ByteSource throws, and for
/// bytes that are not text what LineReader throws; if `lossy`, these are replaced.
std::string read_whole_text(const std::string& path, bool lossy);

}  // namespace heed
