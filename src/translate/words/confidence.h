// How sure a model is of the words of its translation.
#pragma once

#include <span>

namespace heed::translate {

/// Words below are likely to be wrong.
constexpr double kDoubtfulWord = 0.5;

/// The probability that a word also stands in a human translation of the sentence, from its log-probability:
/// the sum of those of its tokens, without punctuation.
double word_confidence(double log_probability);

/// The share of words that are expected to stand in a human translation: the mean of the confidences of the
/// words; 1 for none.
double text_confidence(std::span<const double> words);

}  // namespace heed::translate
