// BERT's vocab.txt: one piece per line.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// Lines end with LF or CRLF. Warns if the last one has no end, as in a truncated file. Throws kNotFound,
/// kFile, or kFormat for invalid UTF-8.
std::vector<std::string> read_word_list(const std::string& path);

}  // namespace heed
