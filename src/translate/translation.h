// The translation of a line of text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "metrics/alignment_score.h"
#include "text/tokenizers/vocabulary.h"

namespace heed::translate {

/// One translation of a line, combined from those of its parts.
struct Candidate {
  std::string text;
  double log_probability = 0;
  double score = 0;  ///< log_probability / n^length_penalty, n the number of tokens after prefixes
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<float> log_probabilities;  ///< of each token

  /// Links between words separated by white space, if requested.
  std::vector<WordLink> alignment;
  /// The confidence of each word, as above, if requested: word_confidence() of confidence.h.
  std::vector<double> word_confidence;
};

/// A line and its translations.
struct Translation {
  std::string source;  ///< with invalid UTF-8 replaced by U+FFFD
  std::vector<std::string> source_pieces;
  /// Best first; the n-th candidate joins the n-th of each part. Never empty: a blank line has one empty
  /// candidate.
  std::vector<Candidate> candidates;

  /// Of a translation in several steps (TranslatorChain): the languages between, and what the best candidate
  /// of each step but the last says, which the next one reads.
  std::vector<std::string> through, intermediate;

  /// What the best candidate says otherwise than the source in numbers, times, dates, codes and addresses,
  /// and texts that it was required to contain and lacks.
  std::vector<std::string> warnings;

  const Candidate& best() const { return candidates.front(); }
};

/// Whether each id is a special token, which is not in the text.
std::vector<bool> special_ids(const Vocabulary& vocabulary, std::span<const int32_t> ids);
std::vector<std::string> pieces_of(const Vocabulary& vocabulary, std::span<const int32_t> ids);

}  // namespace heed::translate
