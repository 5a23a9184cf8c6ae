// What to try where a translation says other values than its source: numbers of the source in figures, and
// months by name, which models translate better; texts that a constrained search requires; or the right value
// in place of the wrong one, with the translation before it as a prefix.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "translate/values/compare_values.h"

namespace heed::translate {

struct RepairTrial {
  std::string source = {};                 ///< is translated instead, alone or with `required`
  std::vector<std::string> required = {};  ///< by a constrained search; else the following
  size_t kept_bytes = 0;                   ///< of the translation before the wrong value
  std::string inserted = {};               ///< after them; empty: anything but the wrong value
  std::vector<size_t> named = {};          ///< where values of the source begin that the result must say
  size_t resumed_bytes = 0;                ///< where the translation goes on behind what is kept; 0: nowhere
};

struct RepairedTexts {
  std::string_view source;  ///< refers to a line of the input
  std::string translation;
};

/// The trials, likeliest first; none for texts with very many values, whose repair would take longer than
/// their translation and rarely helps. `attempt` counts from 0: later attempts write values in other ways.
std::vector<RepairTrial> repair_trials(const ValueDifferences& differences, const RepairedTexts& texts,
                                       const ValueLanguage& source_language,
                                       const ValueLanguage& target_language, size_t attempt);

/// The differences in words, for people.
std::vector<std::string> value_warnings(const ValueDifferences& differences, const RepairedTexts& texts);
/// Those of a text and its translation between two languages (value_language()); none where one has no table.
/// `given`: as for leave_out_given().
std::vector<std::string> value_warnings(const RepairedTexts& texts, const std::string& source_language,
                                        const std::string& target_language,
                                        const std::vector<std::string>& given = {});

}  // namespace heed::translate
