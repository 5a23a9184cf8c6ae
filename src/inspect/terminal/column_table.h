// Tables of tokens for the terminal: many narrow columns of equal width, split where a line is full.
#pragma once

#include <string>
#include <vector>

namespace heed {

/// Throws kUsage for a terminal of fewer than 40 columns.
void require_table_columns(int columns);

/// Rows of cells; the first cell names the row and stands in each part. Cells are left-aligned and truncated
/// to `cell_columns`. Throws as require_table_columns().
std::string column_table(const std::vector<std::vector<std::string>>& rows, int columns,
                         int cell_columns = 12);

/// How tokens are written in a table; "▁" begins a word.
std::vector<std::string> token_texts(const std::vector<std::string>& tokens);
/// The same of what the decoder of a translation model reads: it begins with a start token, which is the
/// padding token in Marian and T5.
std::vector<std::string> translated_token_texts(const std::vector<std::string>& tokens);
/// A token, or the one and not the other: "“bench” and not “bank”". Empty `instead`: no other.
std::string quoted_choice(const std::string& token, const std::string& instead);

}  // namespace heed
