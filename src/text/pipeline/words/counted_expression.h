// Regular expressions whose steps are counted while they are matched.
//
// Oniguruma limits how often a search goes back ("retries"), but not how far it goes ahead: (?>\p{L}*)\d
// reads n letters from each of n positions and goes back once from each. A callout, which the library calls
// when it comes past, tells where the search is. With one before and after everything that can read far (a
// repetition, a call of a group, a backreference), the way between two callouts of which the second lies
// ahead is what was read; what is read between others is at most as long as the expression.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heed {

struct CountedExpression {
  std::string text;
  /// At most so many characters are read, in units of 64, between two callouts or retries.
  size_t weight = 1;
  /// A backreference, or a rule of clusters of characters, may read as much as the text has and then go back.
  bool reads_text = false;
};

/// A valid expression of Oniguruma's syntax with (*`callout`) at the beginning, and around what can read far.
/// It has the same matches and groups. Callouts of its own and absent operators, (?~b), are not known here.
CountedExpression counted_expression(std::string_view expression, std::string_view callout);

}  // namespace heed
