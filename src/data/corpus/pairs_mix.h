// A weighted mix of several corpora of sentence pairs.
//
// The number of occurrences of each pair per epoch is decided once, when the corpora are first read (weights,
// sampling, cleaning), and kept in two bytes per pair; later passes over the text follow it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "data/corpus/cleaning.h"
#include "data/corpus/readers/pairs_reader.h"

namespace heed {

/// One corpus of several.
struct WeightedPairs {
  PairsInput input = {};
  /// Occurrences of each pair per epoch: with 2.25, each occurs twice and a random quarter a third time.
  double weight = 1;
  /// Prepended to each source sentence, if not empty, to mark synthetic pairs (Caswell, Chelba and Grangier,
  /// "Tagged back-translation", 2019).
  std::string tag = {};
};

struct PairsMixOptions {
  RandomKey key = {};  ///< for sampling by the fractional parts of weights
  /// Applied to all pairs with at least one occurrence.
  CleaningOptions cleaning = {};
};

/// Counts of one corpus of a mix.
struct MixedCorpusCounts {
  std::string name;  ///< of its files, as messages have it
  PairsCounts read;
  uint64_t used = 0;   ///< pairs with at least one occurrence
  uint64_t given = 0;  ///< occurrences of all pairs
  FaultCounts removed{};
};

/// Immutable once made.
class PairsMix {
 public:
  static constexpr double kMaxWeight = 1000;

  /// Reads all corpora, in this order. Throws kUsage for no corpora, for weights outside [0, kMaxWeight] and
  /// for standard input; kFormat if no pair is left; and what PairsReader throws.
  PairsMix(std::vector<WeightedPairs> corpora, const PairsMixOptions& options);

  const std::vector<WeightedPairs>& corpora() const { return corpora_; }
  const std::vector<MixedCorpusCounts>& counts() const { return counts_; }
  /// "'a.tsv'", or "2 corpora".
  std::string name() const {
    return counts_.size() == 1 ? counts_[0].name : std::to_string(counts_.size()) + " corpora";
  }
  /// Of the content of all files, those of held-out sentences included, and of the weights and tags. That of
  /// a single corpus of weight 1 is that of identify_pairs().
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  friend class PairsMixReader;
  /// Occurrences of a pair; nothing for one that was not there when the mix was made.
  std::optional<uint16_t> times(size_t corpus, uint64_t pair) const;
  uint64_t combine(const std::vector<uint64_t>& texts) const;
  /// Reads a corpus and returns the fingerprint of its text.
  uint64_t plan(size_t corpus, const PairsMixOptions& options, Cleaner& cleaner);

  std::vector<WeightedPairs> corpora_;
  std::vector<MixedCorpusCounts> counts_;
  std::vector<std::vector<uint16_t>> times_;  // of each pair of each corpus; empty: all once
  uint64_t fingerprint_ = 0, held_out_ = 0;
};

/// Reads the pairs of a mix, corpus by corpus; the occurrences of a pair follow one another.
/// Throws kFile where a file has changed since the mix was made. The mix must outlive it.
class PairsMixReader : public PairSource {
 public:
  explicit PairsMixReader(const PairsMix& mix) : mix_(mix) {}

  bool next(Pair& pair) override;
  /// Of all corpora together.
  PairsCounts counts() const override { return counts_; }
  std::string name() const override { return mix_.name(); }
  uint64_t fingerprint() const override { return mix_.combine(texts_); }

 private:
  void finish_corpus();

  const PairsMix& mix_;
  std::optional<PairsReader> reader_;
  size_t corpus_ = 0;         // that is read now
  uint64_t pair_number_ = 0;  // of its next pair
  Pair pair_;
  uint16_t left_ = 0;  // times that pair_ is still to be given
  PairsCounts counts_;
  std::vector<uint64_t> texts_;  // fingerprints of the corpora that were read
};

}  // namespace heed
