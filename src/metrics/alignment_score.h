// Parses word alignments and scores them against gold alignments: precision, recall, F1 and AER (Och and Ney,
// "A systematic comparison of various statistical alignment models", 2003, section 6.1).
//
//   precision = |A and P| / |A|    recall = |A and S| / |S|
//   F1 = 2 precision recall / (precision + recall)    AER = 1 - (|A and S| + |A and P|) / (|A| + |S|)
// with A the scored links, S the sure gold links, and P all gold links, including the sure ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed {

/// Source word and target word, counted from 0.
using WordLink = std::pair<int, int>;

struct GoldAlignment {
  std::vector<WordLink> sure;      ///< sorted, without duplicates
  std::vector<WordLink> possible;  ///< all gold links, including the sure ones; sorted, without duplicates
};

/// Parses the Pharaoh format, "0-0 1-2"; sorted, without duplicates. `origin` names the line in errors.
/// Throws kFormat.
std::vector<WordLink> parse_alignment(std::string_view line, const std::string& origin);

/// Parses gold alignments: "1-2" is a sure link, "1?2" or "1p2" a possible one. Throws kFormat.
GoldAlignment parse_gold_alignment(std::string_view line, const std::string& origin);

/// Throws kFormat for a link to a word index that is out of range.
void require_words(const std::vector<WordLink>& links, size_t source_words, size_t target_words,
                   const std::string& origin);

/// Counts over sentence pairs; the ratios are 0 where they would divide by 0.
struct AlignmentScore {
  int64_t links = 0;           ///< |A|
  int64_t sure = 0;            ///< |S|
  int64_t sure_found = 0;      ///< |A and S|
  int64_t possible_found = 0;  ///< |A and P|

  /// Adds a sentence pair; `scored` must be sorted, without duplicates.
  void add(const std::vector<WordLink>& scored, const GoldAlignment& gold);
  double precision() const;
  double recall() const;
  double f1() const;
  double error_rate() const;
};

}  // namespace heed
