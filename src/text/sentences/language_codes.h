// The codes of languages in translation models: those of multilingual models whose vocabulary files do not
// list them, in the order of their ids, and what a code says of its language.
#pragma once

#include <string>
#include <vector>

#include "text/unicode/unicode_properties.h"

namespace heed {

/// M2M-100: "af" to "zu"; the tokens are "__af__" and so on. `set` is "language_codes" of
/// tokenizer_config.json, "m2m100" or "wmt21"; empty for an unknown one.
std::vector<std::string> m2m100_languages(const std::string& set);
/// The token of a language of M2M-100: "__de__".
std::string m2m100_token(const std::string& language);
/// mBART-50: "ar_AR" to "sl_SI", which are also the tokens. mBART has the first 25.
std::vector<std::string> mbart_languages(size_t count);

/// The language of a token that stands for one: "de" of "__de__", else the token itself, such as "de_DE" and
/// "deu_Latn"; empty for other tokens.
std::string language_of_token(const std::string& token);
/// The tag by which people name the language of a code: "de" of "deu_Latn", "de_DE" and "deu". A script that
/// is not the language's usual one (Unicode CLDR) is part of it: "zh-Hant" of "zho_Hant" and "zh_TW"; a
/// region is not. A text that is no code comes back as it is.
std::string language_tag(const std::string& code);
/// Which of a model's codes a name means: the same code, else the only one with the same tag ("de" means
/// "deu_Latn"). Empty if there is none.
std::string code_of_language(const std::vector<std::string>& codes, const std::string& name);
/// The spacing of the script in which a language is written: that of the code ("cmn_Latn"), else the usual
/// one (Unicode CLDR). kWords for a text that is no code.
Spacing spacing_of_language(const std::string& code);

}  // namespace heed
