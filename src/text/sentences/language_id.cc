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

namespace {

/// CLD2's number of the language with a code, such as "de", "deu" or "deu_Latn".
CLD2::Language cld2_language(const std::string& code) {
  const std::string tag = language_tag(code);
  return CLD2::GetLanguageFromName(tag == "fil" ? "tl" : tag.c_str());  // CLD2 has the older code
}

/// The languages any of which a text may be in where a code is expected. CLD2 has a language for each script
/// of Chinese, while "zh" names both.
std::vector<CLD2::Language> languages_of(const std::string& code) {
  const CLD2::Language language = cld2_language(code);
  if (language != CLD2::CHINESE) return {language};
  return {CLD2::CHINESE, CLD2::CHINESE_T};
}

/// What CLD2 says of a text: up to three languages with their shares of the letters in percent.
struct Summary {
  std::array<CLD2::Language, 3> languages{};
  std::array<int, 3> percent{};
  int bytes = 0;  ///< of letters
  bool reliable = false;
};

Summary summary_of(std::string_view text, CLD2::Language hint, int flags) {
  const CLD2::CLDHints hints{nullptr, nullptr, CLD2::UNKNOWN_ENCODING, hint};
  Summary summary;
  std::array<double, 3> score{};
  CLD2::ExtDetectLanguageSummary(text.data(), static_cast<int>(text.size()), true, &hints, flags,
                                 summary.languages.data(), summary.percent.data(), score.data(), nullptr,
                                 &summary.bytes, &summary.reliable);
  return summary;
}

}  // namespace

bool is_identified_language(const std::string& code) {
  return cld2_language(code) != CLD2::UNKNOWN_LANGUAGE;
}

std::string other_language(std::string_view text, const std::string& expected) {
  constexpr int kMinBytes = 25, kMinPercent = 90;  // share of the letters in the identified language
  const std::vector<CLD2::Language> accepted = languages_of(expected);
  std::string other;
  // A hint for one script of Chinese moves texts in the other to Japanese, so each is tried.
  for (const CLD2::Language hint : accepted) {
    const Summary found = summary_of(text, hint, 0);
    const CLD2::Language language = found.languages[0];
    if (language == CLD2::UNKNOWN_LANGUAGE || std::ranges::count(accepted, language) > 0) return "";
    if (!found.reliable || found.bytes < kMinBytes || found.percent[0] < kMinPercent) return "";
    if (other.empty()) other = language_tag(CLD2::LanguageCode(language));
  }
  return other;
}

namespace {

/// CLD2 reads code units as signed int counts, and a detector needs no more than this.
constexpr size_t kMostBytes = 1 << 16;
/// Of more expected languages, a hint for each in turn would find one for any text.
constexpr size_t kFewLanguages = 8;

std::vector<DetectedLanguage> detect(std::string_view text, CLD2::Language hint, int flags) {
  const Summary found = summary_of(text, hint, flags);
  std::vector<DetectedLanguage> languages;
  for (size_t n = 0; n < found.languages.size(); ++n) {
    if (found.languages[n] == CLD2::UNKNOWN_LANGUAGE || found.percent[n] == 0) continue;
    // CLD2 has old codes, such as "iw" for "he".
    languages.push_back({language_tag(CLD2::LanguageCode(found.languages[n])),
                         found.reliable ? found.percent[n] : found.percent[n] / 2.0});
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
    const CLD2::Language hint = cld2_language(code);
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
