#include "text/sentences/language_codes.h"

#include <unicode/locid.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/text/ascii.h"

namespace heed {
namespace {

constexpr const char* kM2m100 =
    "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl gu "
    "ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml mn mr "
    "ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th tl tn tr uk "
    "ur uz vi wo xh yi yo zh zu";
constexpr const char* kWmt21 = "en ha is ja cs ru zh de";
constexpr const char* kMbart =
    "ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT "
    "lv_LV my_MM ne_NP nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL "
    "hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN "
    "th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI";

std::vector<std::string> words_of(const char* text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool are_letters(std::string_view text, size_t least, size_t most) {
  return text.size() >= least && text.size() <= most &&
         std::all_of(text.begin(), text.end(), is_ascii_letter);
}

/// The locale of a code; nullopt for a text that is none.
std::optional<icu::Locale> locale_of(const std::string& code) {
  if (!are_letters(std::string_view(code).substr(0, code.find_first_of("-_")), 2, 3)) return {};
  UErrorCode error = U_ZERO_ERROR;
  icu::Locale locale(code.c_str());
  locale.canonicalize(error);
  if (U_FAILURE(error) || locale.isBogus() || *locale.getLanguage() == '\0') return {};
  return locale;
}

}  // namespace

std::vector<std::string> m2m100_languages(const std::string& set) {
  if (set == "m2m100") return words_of(kM2m100);
  if (set == "wmt21") return words_of(kWmt21);
  return {};
}

std::string m2m100_token(const std::string& language) {
  return "__" + language + "__";
}

std::vector<std::string> mbart_languages(size_t count) {
  std::vector<std::string> all = words_of(kMbart);
  all.resize(std::min(count, all.size()));
  return all;
}

std::string language_of_token(const std::string& token) {
  if (token.size() > 4 && token.starts_with("__") && token.ends_with("__")) {
    const std::string language = token.substr(2, token.size() - 4);
    return are_letters(language, 2, 3) ? language : "";
  }
  const size_t mark = token.find('_');
  if (mark == std::string::npos) return "";
  const std::string_view name(token);
  const bool is_code = are_letters(name.substr(0, mark), 2, 3) && are_letters(name.substr(mark + 1), 2, 4);
  return is_code ? token : "";
}

std::string language_tag(const std::string& code) {
  std::optional<icu::Locale> given = locale_of(code);
  if (!given) return code;
  std::string language = given->getLanguage();
  UErrorCode error = U_ZERO_ERROR;
  icu::Locale usual(language.c_str());
  usual.addLikelySubtags(error);
  given->addLikelySubtags(error);  // the script of the region, where none is given
  if (U_FAILURE(error)) return language;
  const std::string script = given->getScript(), usual_script = usual.getScript();
  return usual_script.empty() || script == usual_script ? language : language + "-" + script;
}

std::string code_of_language(const std::vector<std::string>& codes, const std::string& name) {
  if (std::ranges::count(codes, name) > 0) return name;
  const std::string tag = language_tag(name);
  const auto same = [&](const std::string& code) { return language_tag(code) == tag; };
  return std::ranges::count_if(codes, same) == 1 ? *std::ranges::find_if(codes, same) : "";
}

Spacing spacing_of_language(const std::string& code) {
  std::optional<icu::Locale> locale = locale_of(code);
  UErrorCode error = U_ZERO_ERROR;
  if (locale) locale->addLikelySubtags(error);
  if (!locale || U_FAILURE(error)) return Spacing::kWords;
  const int32_t script = u_getPropertyValueEnum(UCHAR_SCRIPT, locale->getScript());
  if (script == UCHAR_INVALID_CODE) return Spacing::kWords;
  // A character of the script: scripts of languages, such as Jpan and Hans, consist of those of characters.
  const icu::UnicodeString sample = uscript_getSampleUnicodeString(static_cast<UScriptCode>(script));
  return sample.isEmpty() ? Spacing::kWords : spacing_of(static_cast<char32_t>(sample.char32At(0)));
}

}  // namespace heed
