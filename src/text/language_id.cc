#include "text/language_id.h"

#include <cstdio>  // which the next header wants and does not include
// Order counts.
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <array>

namespace heed {

bool is_identified_language(const std::string& code) {
  return CLD2::GetLanguageFromName(code.c_str()) != CLD2::UNKNOWN_LANGUAGE;
}

std::string other_language(std::string_view text, const std::string& expected) {
  constexpr int kMinBytes = 25, kMinPercent = 90;  // share of the letters in the identified language
  const CLD2::Language language = CLD2::GetLanguageFromName(expected.c_str());
  const CLD2::CLDHints hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, language};
  std::array<CLD2::Language, 3> found{};
  std::array<int, 3> percent{};
  std::array<double, 3> score{};
  int bytes = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints, 0, found.data(),
                                 percent.data(), score.data(), nullptr, &bytes, &reliable);
  const bool other = found[0] != language && found[0] != CLD2::UNKNOWN_LANGUAGE;
  if (!reliable || !other || bytes < kMinBytes || percent[0] < kMinPercent) return "";
  return CLD2::LanguageCode(found[0]);
}

}  // namespace heed
