// Compares what a text and its translation say in values (value.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "translate/values/languages/value_language.h"
#include "translate/values/value.h"

namespace heed::translate {

/// A range of times of a source of which the translation lacks one or both.
struct LostRange {
  Value first = {}, last = {};
  size_t begin = 0;     ///< of the first time in the translation, or of what stands in its place
  bool listed = false;  ///< "at 10 and 11 a.m.", which is no "from 10 to 11"
};

struct ValueDifferences {
  std::vector<Value> missing;  ///< values of the source that the translation lacks, in order
  std::vector<Value> added;    ///< values of the translation that the source lacks, in order
  std::optional<LostRange> range = {};
  size_t compared = 0;  ///< values of both texts together
  size_t count() const { return missing.size() + added.size(); }
};

/// A text of a language. Refers to both.
struct LanguageText {
  std::string_view text;
  const ValueLanguage& language;
};

/// Leaves out values of the translation within texts that the caller gave, as they are written there or with
/// a capital first letter: nobody translated them.
void leave_out_given(const std::vector<std::string>& given, std::string_view translation,
                     ValueDifferences& differences);

/// The differences, in the readings of both texts that agree best. Thread-safe.
ValueDifferences compare_values(const LanguageText& source, const LanguageText& translation);

}  // namespace heed::translate
