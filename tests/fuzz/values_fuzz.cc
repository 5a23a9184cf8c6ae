// Numbers, dates and times in any text and its translation: the first byte chooses the two languages, the
// first line behind it is the text, the rest the translation. A text has no differences from itself, unless
// its language writes a value otherwise ("24.10.2022" in English), and repairs stay inside the translation.
#include <algorithm>
#include <string>

#include "fuzz.h"
#include "translate/values/compare_values.h"
#include "translate/values/reading/find_values.h"
#include "translate/values/repair_trials.h"

namespace heed::translate {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void compare_with_itself(const LanguageText& text) {
  const auto is_wrong = [](const Value& value) { return value.ill_written || value.broken; };
  require(compare_values(text, text).count() == 0 ||
          std::ranges::any_of(find_values(text.text, text.language).values, is_wrong));
}

void repair(const LanguageText& source, const LanguageText& translation) {
  const ValueDifferences differences = compare_values(source, translation);
  const RepairedTexts texts{source.text, std::string(translation.text)};
  require(value_warnings(differences, texts).size() == differences.count());
  for (const size_t attempt : {0, 1}) {
    for (const RepairTrial& trial :
         repair_trials(differences, texts, source.language, translation.language, attempt)) {
      require(trial.kept_bytes <= translation.text.size() && trial.resumed_bytes <= translation.text.size());
    }
  }
}

void try_texts(uint8_t languages, std::string_view text) {
  constexpr uint8_t kLanguages = 3;
  const ValueLanguage* const tables[kLanguages] = {&german_values(), &english_values(), &spanish_values()};
  const ValueLanguage &from = *tables[languages % kLanguages],
                      &to = *tables[languages / kLanguages % kLanguages];
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view source = text.substr(0, end),
                         translation = text.substr(std::min(end + 1, text.size()));
  compare_with_itself({source, from});
  repair({source, from}, {translation, to});
}

}  // namespace
}  // namespace heed::translate

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size == 0) return 0;
  return heed::fuzz([&] { heed::translate::try_texts(bytes[0], heed::text_of(bytes + 1, size - 1)); });
}
