#include "translate/line_translator.h"

#include <utility>

namespace heed::translate {

void LineTranslator::translate(const std::vector<std::string>& lines,
                               const std::function<void(Translation)>& take, const Control& control) const {
  size_t at = 0;
  const auto next = [&](std::string& line) {
    if (at == lines.size()) return false;
    line = lines[at++];
    return true;
  };
  translate(next, take, control);
}

std::vector<Translation> LineTranslator::translate(const std::vector<std::string>& lines) const {
  std::vector<Translation> translations;
  translate(lines, [&](Translation translation) { translations.push_back(std::move(translation)); }, {});
  return translations;
}

Translation LineTranslator::translate(const std::string& line) const {
  return translate(std::vector{line}).front();
}

}  // namespace heed::translate
