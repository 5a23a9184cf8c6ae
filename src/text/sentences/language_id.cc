#include "text/sentences/language_id.h"

#include <cstdio>  // which the next header wants and does not include
// Order counts.
#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <unicode/uloc.h>
#include <unicode/unistr.h>

#include <algorithm>
#include <array>

#include "text/sentences/language_codes.h"
#include "text/unicode/utf8.h"

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

namespace {

/// CLD2 reads code units as signed int counts, and a detector needs no more than this.
constexpr size_t kMostBytes = 1 << 16;
/// Of more expected languages, a hint for each in turn would find one for any text.
constexpr size_t kFewLanguages = 8;

std::vector<DetectedLanguage> detect(std::string_view text, CLD2::Language hint, int flags) {
  const CLD2::CLDHints hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, hint};
  std::array<CLD2::Language, 3> found{};
  std::array<int, 3> percent{};
  std::array<double, 3> score{};
  int bytes = 0;
  bool reliable = false;
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints, flags,
                                 found.data(), percent.data(), score.data(), nullptr, &bytes, &reliable);
  std::vector<DetectedLanguage> languages;
  for (size_t n = 0; n < found.size(); ++n) {
    if (found[n] == CLD2::UNKNOWN_LANGUAGE || percent[n] == 0) continue;
    // CLD2 has old codes, such as "iw" for "he".
    languages.push_back(
        {language_tag(CLD2::LanguageCode(found[n])), reliable ? percent[n] : percent[n] / 2.0});
  }
  return languages;
}

std::string without_script(const std::string& tag) {
  return tag.substr(0, tag.find('-'));
}

/// The one of `expected` that a detected language is; nullptr if there is none.
const std::string* expected_language(const std::vector<std::string>& expected, const std::string& detected) {
  const auto find = [&](const auto& is_it) -> const std::string* {
    const auto found = std::ranges::find_if(expected, is_it);
    return found == expected.end() ? nullptr : &*found;
  };
  const std::string norwegian = detected == "no" ? "nb" : detected;  // CLD2 names Bokmål so
  if (const auto* same = find([&](const std::string& each) { return each == detected; })) return same;
  if (const auto* same = find([&](const std::string& each) {
        return language_tag(each) == detected || language_tag(each) == norwegian;
      })) {
    return same;
  }
  return find([&](const std::string& each) {
    return without_script(language_tag(each)) == without_script(detected);
  });
}

}  // namespace

std::vector<DetectedLanguage> detect_languages(std::string_view text,
                                               const std::vector<std::string>& expected) {
  text = text.substr(0, character_start(text, kMostBytes));
  std::vector<DetectedLanguage> languages = detect(text, CLD2::UNKNOWN_LANGUAGE, 0);
  if (languages.empty()) languages = detect(text, CLD2::UNKNOWN_LANGUAGE, CLD2::kCLDFlagBestEffort);
  if (expected.empty()) return languages;
  /// Those of the languages that are expected, as they are named there.
  const auto among_expected = [&](const std::vector<DetectedLanguage>& found) {
    std::vector<DetectedLanguage> kept;
    for (const DetectedLanguage& each : found) {
      const std::string* name = expected_language(expected, each.code);
      if (name == nullptr) continue;
      const auto same = std::ranges::find(kept, *name, &DetectedLanguage::code);
      if (same == kept.end()) {
        kept.push_back({*name, each.confidence});
      } else {
        same->confidence += each.confidence;
      }
    }
    return kept;
  };
  if (std::vector<DetectedLanguage> kept = among_expected(languages); !kept.empty()) return kept;
  // Short texts are often taken for a related language: the hint decides between near ones.
  if (expected.size() > kFewLanguages) return languages;
  for (const std::string& code : expected) {
    const CLD2::Language hint = CLD2::GetLanguageFromName(language_tag(code).c_str());
    if (hint == CLD2::UNKNOWN_LANGUAGE) continue;
    std::vector<DetectedLanguage> kept = among_expected(detect(text, hint, CLD2::kCLDFlagBestEffort));
    for (DetectedLanguage& language : kept) language.confidence /= 2;
    if (!kept.empty()) return kept;
  }
  return languages;
}

std::string language_name(const std::string& code) {
  UErrorCode error = U_ZERO_ERROR;
  std::array<UChar, 128> name{};
  const int32_t length =
      uloc_getDisplayName(code.c_str(), "en", name.data(), static_cast<int32_t>(name.size()), &error);
  if (U_FAILURE(error) || length <= 0) return code;
  std::string result;
  icu::UnicodeString(name.data(), length).toUTF8String(result);
  return result;
}

}  // namespace heed
