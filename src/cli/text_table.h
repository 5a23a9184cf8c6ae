// Cells in columns, for standard output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heed::cli {

/// One line for each row; the first `left` columns are aligned to the left, the others to the right. All rows
/// have as many cells.
std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t left = 1);

}  // namespace heed::cli
