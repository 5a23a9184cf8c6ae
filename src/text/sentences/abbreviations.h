// Words that decide whether a period ends a sentence: abbreviations, and typical first words of sentences.
//
// German, English and Spanish have our own lists; other languages use CLDR's suppression lists.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace heed {

/// What may follow an abbreviation and its period within the same sentence.
enum class Abbreviation {
  kNone,          ///< not an abbreviation
  kBeforeName,    ///< any word: "Dr. Huber", "z. B. Äpfel"
  kBeforeNumber,  ///< a number only: "Nr. 5", "Fig. 3"; otherwise a sentence ends
  kMayEnd,        ///< any word that does not usually begin a sentence: "Apple Inc. It ..." is two sentences
  kTimeOfDay,     ///< weekdays and time zones: "9 a.m. Monday", "5 p.m. EST"; otherwise a sentence ends
};

class Abbreviations {
 public:
  /// `language` is a language code of two or three letters. Throws kFile if ICU has no data.
  explicit Abbreviations(std::string_view language);

  /// Looks up a word without its final period. Lower-case entries also match capitalized words.
  Abbreviation find(std::string_view word) const;
  /// Whether the word often begins a sentence and rarely follows an abbreviation: "The".
  bool begins_sentences(std::string_view word) const { return starters_.count(std::string(word)) > 0; }
  /// Whether the language writes "3." for "third".
  bool ordinals_with_period() const { return ordinals_with_period_; }
  /// Whether all nouns are capitalized, so that a capital letter is weak evidence of a new sentence.
  bool capitalizes_nouns() const { return capitalizes_nouns_; }

 private:
  std::unordered_map<std::string, Abbreviation> words_;
  std::unordered_set<std::string> starters_;
  bool ordinals_with_period_ = false, capitalizes_nouns_ = false, german_ = false;
};

}  // namespace heed
