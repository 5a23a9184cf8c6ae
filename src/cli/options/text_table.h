// Tables with aligned columns, for standard output.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heed::cli {

/// One line per row; the first `left` columns are left-aligned, the others right-aligned. All rows have the
/// same number of cells.
std::string text_table(const std::vector<std::vector<std::string>>& rows, size_t left = 1);

}  // namespace heed::cli
