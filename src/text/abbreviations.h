// Words that decide whether a period ends a sentence: abbreviations, and words that sentences begin with.
//
// German, English and Spanish have lists of our own. Other languages have what CLDR lists as exceptions.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heed {

/// What may follow an abbreviation and its period within the same sentence.
enum class Abbreviation {
  kNone,          ///< the word is no abbreviation
  kBeforeName,    ///< any word: "Dr. Huber", "z. B. Äpfel"
  kBeforeNumber,  ///< a number only: "Nr. 5", "Fig. 3"; otherwise a sentence ends
  kMayEnd,        ///< any word that does not usually begin a sentence: "Apple Inc. It ..." is two sentences
  kTimeOfDay,     ///< weekdays and time zones: "9 a.m. Monday", "5 p.m. EST"; otherwise a sentence ends
};

class Abbreviations {
 public:
  /// `language` is a language code of two or three letters. Throws kFile where ICU has no data.
  explicit Abbreviations(std::string_view language);

  /// `word` without its last period. Entries in lower case match capitalized words too.
  Abbreviation find(std::string_view word) const;
  /// Whether sentences often begin with this word, and words after an abbreviation rarely are this one:
  /// "The".
  bool begins_sentences(std::string_view word) const { return starters_.count(std::string(word)) > 0; }
  /// Whether the language writes "3." for "third".
  bool ordinals_with_period() const { return ordinals_with_period_; }
  /// Whether every noun is capitalized, so that a capital letter says little about where a sentence begins.
  bool capitalizes_nouns() const { return capitalizes_nouns_; }

 private:
  std::unordered_map<std::string, Abbreviation> words_;
  std::unordered_set<std::string> starters_;
  bool ordinals_with_period_ = false, capitalizes_nouns_ = false, german_ = false;
};

}  // namespace heed
