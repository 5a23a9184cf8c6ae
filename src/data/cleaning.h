// Which sentence pairs are not worth learning from, or must not be learnt from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/fingerprint.h"
#include "data/line_reader.h"

namespace heed {

struct CleaningOptions {
  /// Pairs are removed of which one side has more than so many times the characters of the other; sides of
  /// less than kRatioFloor count as having so many. 0: no limit.
  double max_ratio = 0;
  static constexpr size_t kRatioFloor = 15;
  int64_t max_words = 0;       ///< pairs with more words, between white space, on a side; 0: no limit
  int64_t max_characters = 0;  ///< pairs with more characters on a side; 0: no limit
  int64_t identical = -1;      ///< pairs with the same text on both sides and more words than this; -1: none
  bool duplicates = false;     ///< pairs that were there before, character for character
  /// Pairs with control characters, U+FFFD, or UTF-8 that was read as Latin-1 ("schÃ¶n") on a side.
  bool encoding = false;
  bool language = false;  ///< pairs of which a side is for sure in another language than these
  std::string source_language = {}, target_language = {};
  /// Files with sentences, one on each line or two with a tab between, that must not be learnt from: pairs
  /// are removed of which a side is one of them, whatever the case and the marks. Single words do not count.
  std::vector<std::string> held_out = {};

  bool any() const {
    return max_ratio > 0 || max_words > 0 || max_characters > 0 || identical >= 0 || duplicates || encoding ||
           language || !held_out.empty();
  }
};

/// Why a pair is removed; the first that fits, in this order.
enum class Fault { kEncoding, kLength, kRatio, kIdentical, kLanguage, kHeldOut, kDuplicate };
constexpr size_t kFaults = 7;
using FaultCounts = std::array<uint64_t, kFaults>;

/// "3 duplicates, 12 length ratio"; empty for none.
std::string fault_counts_text(const FaultCounts& counts);

class Cleaner {
 public:
  /// Reads the held-out files, as `lines` says. Throws kUsage for languages that cannot be identified, and
  /// what reading throws.
  Cleaner(const CleaningOptions& options, const LineReaderOptions& lines);

  /// What is wrong with a pair; nothing where it can be used, and then it is remembered, to know its
  /// duplicates.
  std::optional<Fault> fault(std::string_view source, std::string_view target);
  /// Of the content of the held-out files; 0 where there are none.
  uint64_t held_out_fingerprint() const { return held_out_fingerprint_; }

 private:
  bool is_held_out(std::string_view text) const;

  CleaningOptions options_;
  std::unordered_set<uint64_t> held_out_, seen_;  // fingerprints of sentences and of pairs
  uint64_t held_out_fingerprint_ = 0;
};

/// Whether text has control characters, U+FFFD, or looks like UTF-8 that was read as Latin-1 or Windows-1252.
bool is_badly_encoded(std::string_view text);

}  // namespace heed
