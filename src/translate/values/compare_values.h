// Compares what a text and its translation say in values (value.h).
#pragma once

#include <string_view>
#include <vector>

#include "translate/values/value.h"
#include "translate/values/value_language.h"

namespace heed::translate {

struct ValueDifferences {
  std::vector<Value> missing;  ///< values of the source that the translation lacks, in order
  std::vector<Value> added;    ///< values of the translation that the source lacks, in order
  size_t count() const { return missing.size() + added.size(); }
};

/// A text of a language. Refers to both.
struct LanguageText {
  std::string_view text;
  const ValueLanguage& language;
};

/// The differences, in the readings of both texts that agree best. Thread-safe.
ValueDifferences compare_values(const LanguageText& source, const LanguageText& translation);

}  // namespace heed::translate
