#include "translate/values/value_language.h"

namespace heed::translate {

const ValueLanguage* value_language(std::string_view code) {
  for (const ValueLanguage* language : {&german_values(), &english_values(), &spanish_values()}) {
    if (language->code == code) return language;
  }
  return nullptr;
}

}  // namespace heed::translate
