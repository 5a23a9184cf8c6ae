// Choices of AugmentationOptions that recipes have, too.
#pragma once

namespace heed {

/// Where names come from.
enum class NamesFrom {
  kInvented,  ///< letter by letter, after those of the text
  kText,      ///< those of the text itself, all of them as often
  kBoth,      ///< either in half of the cases
};

/// How many sentences are joined in a line.
enum class JoinedSentences {
  kUniform,    ///< 2 to 8, all as often
  kGeometric,  ///< 2 in half of the cases, and one more in half of the rest each time; 7 at most
};

}  // namespace heed
