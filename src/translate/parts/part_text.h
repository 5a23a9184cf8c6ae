// The text of a translated part (line_splitter.h): placeholders are replaced by the spans that they stand
// for, and the translation of a line in capitals is converted to capitals.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "translate/parts/line_splitter.h"

namespace heed::translate {

/// What a part translates of its line.
std::string_view source_of_part(const LinePart& part, std::string_view line);

/// The translation of a part of the line `source`, from the model's output `decoded`.
std::string part_text(const LinePart& part, const std::string& source, const std::string& decoded);

/// For each word of `decoded` its words in part_text(), [first, last): several where it has a placeholder
/// that is replaced by several words.
std::vector<std::pair<int, int>> words_with_spans(const LinePart& part, const std::string& decoded);

}  // namespace heed::translate
