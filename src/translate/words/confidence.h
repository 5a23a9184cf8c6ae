// How sure a model is of the words of its translation.
#pragma once

#include <span>
#include <vector>

namespace heed::translate {

/// Words below are likely to be wrong.
constexpr double kDoubtfulWord = 0.5;

/// The probability that a word also stands in a human translation of the sentence, from its log-probability:
/// the sum of those of its tokens, without punctuation.
double word_confidence(double log_probability);

/// The confidence of each of `words` words of a translation, from the log-probabilities of its tokens and the
/// word of each, as words_of_pieces() numbers them.
std::vector<double> word_confidences(const std::vector<int>& word_of_token,
                                     std::span<const float> log_probabilities, size_t words);

/// The share of words that are expected to stand in a human translation: the mean of the confidences of the
/// words; 1 for none.
double text_confidence(std::span<const double> words);

}  // namespace heed::translate
