// Tables of tokens for the terminal: many narrow columns of equal width, split where a line is full.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// Rows of cells; the first cell names the row and stands in each part. Cells are left-aligned and truncated
/// to 12 columns. Throws kUsage for a terminal of fewer than 40 columns.
std::string column_table(const std::vector<std::vector<std::string>>& rows, int columns);

/// How tokens are written in a table; "▁" begins a word.
std::vector<std::string> token_texts(const std::vector<std::string>& tokens);

}  // namespace heed
