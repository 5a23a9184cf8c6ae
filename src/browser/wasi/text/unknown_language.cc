// Language identification where there is no CLD2: no text is identified. In place of language_id.cc.
#include <unicode/uloc.h>
#include <unicode/unistr.h>

#include <array>

#include "text/sentences/language_id.h"

namespace heed {

bool is_identified_language(const std::string&) {
  return false;
}

std::string other_language(std::string_view, const std::string&) {
  return "";
}

std::vector<DetectedLanguage> detect_languages(std::string_view, const std::vector<std::string>&) {
  return {};
}

std::string language_name(const std::string& code) {
  std::array<UChar, 64> name{};
  UErrorCode error = U_ZERO_ERROR;
  const int32_t length =
      uloc_getDisplayName(code.c_str(), "en", name.data(), static_cast<int32_t>(name.size()), &error);
  if (U_FAILURE(error) || length == 0) return code;
  std::string utf8;
  icu::UnicodeString(name.data(), length).toUTF8String(utf8);
  return utf8;
}

}  // namespace heed
