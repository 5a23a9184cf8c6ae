// Filters for noisy sentence pairs, and for pairs that overlap with test sets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/files/fingerprint.h"
#include "data/corpus/readers/line_reader.h"

namespace heed {

struct CleaningOptions {
  /// Maximum ratio of the lengths of both sides in characters; lengths below kRatioFloor count as
  /// kRatioFloor. 0: no limit.
  double max_length_ratio = 0;
  static constexpr size_t kRatioFloor = 15;
  int64_t max_words = 0;             ///< per side, separated by white space; 0: no limit
  int64_t max_characters = 0;        ///< per side; 0: no limit
  int64_t max_identical_words = -1;  ///< removes pairs with identical sides of more words than this; -1: off
  bool drop_duplicates = false;      ///< removes exact duplicates of earlier pairs
  /// Removes pairs with control characters, U+FFFD, or mojibake (UTF-8 decoded as Latin-1: "schÃ¶n") on a
  /// side.
  bool drop_broken_encoding = false;
  bool drop_other_languages =
      false;  ///< removes pairs with a side reliably identified as another language than these
  std::string source_language = {}, target_language = {};
  /// Files of held-out sentences, one per line or two separated by a tab: removes pairs with a side that
  /// equals one of them, ignoring case and punctuation. Single words are ignored; each letter of a script
  /// without spaces between words (Han, kana, Thai) counts as one.
  std::vector<std::string> held_out = {};

  bool any() const {
    return max_length_ratio > 0 || max_words > 0 || max_characters > 0 || max_identical_words >= 0 ||
           drop_duplicates || drop_broken_encoding || drop_other_languages || !held_out.empty();
  }
};

/// Why a pair is removed; the first that applies, in this order.
enum class Fault { kEncoding, kLength, kRatio, kIdentical, kLanguage, kHeldOut, kDuplicate };
constexpr size_t kFaults = 7;
using FaultCounts = std::array<uint64_t, kFaults>;

/// "3 duplicates, 12 length ratio"; empty for none.
std::string fault_counts_text(const FaultCounts& counts);

class Cleaner {
 public:
  /// Reads the held-out files with the options `lines`. Throws kUsage for languages that cannot be
  /// identified, and the errors of reading.
  Cleaner(const CleaningOptions& options, const LineReaderOptions& lines);

  /// The reason to remove a pair, or empty to keep it. Kept pairs are remembered to detect duplicates.
  std::optional<Fault> fault(std::string_view source, std::string_view target);
  /// Hash of the content of the held-out files; 0 if there are none.
  uint64_t held_out_fingerprint() const { return held_out_fingerprint_; }

 private:
  bool is_held_out(std::string_view text) const;

  CleaningOptions options_;
  std::unordered_set<uint64_t> held_out_, seen_;  // fingerprints of sentences and of pairs
  uint64_t held_out_fingerprint_ = 0;
};

/// Whether text has control characters, U+FFFD, or looks like UTF-8 decoded as Latin-1 or Windows-1252.
bool is_badly_encoded(std::string_view text);

}  // namespace heed
