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

  /// Whether a text has these letters and digits in a row. The other text of an address may write it
  /// differently: "Covid-19" for "COVID-19".
  bool holds_text(size_t text, std::string_view normal) const;

 private:
  mutable std::array<std::optional<std::string>, 2> letters_;  // and digits of each text, once needed
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
