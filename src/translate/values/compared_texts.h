// A source and its translation with their values, for the parts of compare_values().
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "translate/values/compare_values.h"
#include "translate/values/value.h"

namespace heed::translate {

class ComparedTexts {
 public:
  ComparedTexts(const LanguageText& source, const LanguageText& translation);

  std::array<LanguageText, 2> texts;  ///< source and translation
  std::array<TextValues, 2> values;   ///< of each

  /// Whether a text has these letters and digits in a row, and none joined to them: "8F-32-AAA" does not hold
  /// "8F-32-AA". The other text of an address may write it differently: "Covid-19" for "COVID-19"; and it may
  /// have an ending, "A380s".
  bool holds_text(size_t text, std::string_view normal) const;
  /// Whether a text has these letters and digits in a row, also within a word.
  bool holds_letters(size_t text, std::string_view normal) const;

 private:
  /// The letters and digits of a text, and where a code may begin or end among them.
  struct Letters {
    std::string all;
    std::vector<bool> begins, ends;  // at each byte, and behind the last
  };
  const Letters& letters_of(size_t text) const;

  mutable std::array<std::optional<Letters>, 2> letters_;                 // of each text, once needed
  mutable std::array<std::map<std::string, bool, std::less<>>, 2> held_;  // the answers so far
};

/// A value, or a part of a date: day and year are numbers, and kDate is a month.
struct Atom {
  const Value* value = nullptr;
  ValueKind kind = ValueKind::kNumber;
  std::string normal = {};
  bool optional = false;
  size_t index = 0;  ///< of the value in its text
  bool matched = false;
  const Value* partner = nullptr;  ///< of a source: what it was matched with
  size_t partner_index = 0;        ///< of the value that has the partner, or is it
};

using Atoms = std::vector<Atom>;

/// The period directly behind a position; null: none.
const Phrase<Period>* period_behind(const LanguageText& text, size_t position);

/// Whether a value of the source is said by one of the translation.
bool is_same_value(const ComparedTexts& compared, const Atom& source, const Atom& translation);

/// Adds what is different about values that were matched, or belongs to no value of the source: lost units,
/// ranges that became something else, other periods, added currencies, and words that are no numbers.
void add_changes(const ComparedTexts& compared, const Atoms& source, ValueDifferences& differences);

}  // namespace heed::translate
