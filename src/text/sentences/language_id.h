// Language identification with CLD2, "Compact Language Detector 2" (Sites, 2013), a naive Bayes classifier
// over letter quadgrams.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed {

/// Whether CLD2 supports the language with this code, such as "de" or "deu_Latn".
bool is_identified_language(const std::string& code);

/// The language_tag() of the text's language if it is reliably identified and not `expected`, a code, else
/// empty; text of less than 25 bytes is not judged. "zh" stands for both scripts of Chinese. On 60,000
/// Tatoeba pairs, 39 German and no English sentences are misidentified, and 82% of German sentences that
/// should be English are found, in 0.4 s.
std::string other_language(std::string_view text, const std::string& expected);

/// A language that a text may be written in.
struct DetectedLanguage {
  std::string code;       ///< a language_tag(): "de", "he", "zh", "zh-Hant"
  double confidence = 0;  ///< from 0 to 100: the share of the text, half of it if the detector is not sure
};

/// The languages of a text, the most likely first; none for text without letters. Short texts are judged too,
/// less reliably. Where `expected` names languages, by tags or codes, others are left out if one of these is
/// found, which then has the name that it has there; the same language in another script will do. A short
/// text that is taken for a language that is not expected is compared with the expected ones, if they are
/// few: among many, one would always seem near.
std::vector<DetectedLanguage> detect_languages(std::string_view text,
                                               const std::vector<std::string>& expected = {});

/// "German" for "de"; the code itself where it is unknown.
std::string language_name(const std::string& code);

}  // namespace heed
