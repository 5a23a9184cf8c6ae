#include "translate/parts/translation_window.h"

#include <algorithm>

namespace heed::translate {

void TranslationWindow::number_parts() {
  first_part.push_back(0);
  for (size_t line = 0; line < lines.size(); ++line) {
    const std::vector<LinePart>& parts = lines[line].parts;
    const auto translated =
        std::ranges::find_if(parts, [](const LinePart& part) { return part.literal.empty(); });
    first_translated.push_back(line_of_part.size() + static_cast<size_t>(translated - parts.begin()));
    line_of_part.insert(line_of_part.end(), parts.size(), line);
    first_part.push_back(line_of_part.size());
    size_t tokens = 0;
    for (const LinePart& part : parts) tokens += part.ids.size();
    const double bytes_per_token =
        static_cast<double>(inputs[line].size() + 1) / static_cast<double>(std::max<size_t>(tokens, 1));
    for (const LinePart& part : parts) {
      bytes_of_part.push_back(static_cast<double>(part.ids.size()) * bytes_per_token);
    }
  }
  hypotheses.resize(line_of_part.size());
}

bool TranslationWindow::is_first_translated(size_t number) const {
  return first_translated[line_of_part[number]] == number;
}

}  // namespace heed::translate
