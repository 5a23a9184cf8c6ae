// The text of a translated part (line_splitter.h): placeholders are replaced by the spans that they stand
// for, and the translation of a line in capitals is converted to capitals.
#pragma once

#include <string>
#include <vector>

#include "translate/line_splitter.h"

namespace heed::translate {

/// The translation of a part of the line `source`, from the model's output `decoded`.
std::string part_text(const LinePart& part, const std::string& source, const std::string& decoded);

/// The word of part_text() in which each word of `decoded` begins, and the number of words at the end. They
/// differ if a placeholder is replaced by several words.
std::vector<int> words_with_spans(const LinePart& part, const std::string& decoded);

}  // namespace heed::translate
