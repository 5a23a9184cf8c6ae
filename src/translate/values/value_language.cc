#include "translate/values/value_language.h"

#include "text/sentences/language_codes.h"

namespace heed::translate {

const ValueLanguage* value_language(std::string_view code) {
  const std::string tag = code.empty() ? "" : language_tag(std::string(code));
  for (const ValueLanguage* language : {&german_values(), &english_values(), &spanish_values()}) {
    if (language->code == tag) return language;
  }
  return nullptr;
}

}  // namespace heed::translate
