// The ranges of the settings of search and sampling, wherever they are set: in generation_config.json, on the
// command line, in requests, in Python and in C++.
#pragma once

#include <cstdint>
#include <limits>

namespace heed::models {

/// Values from `least` to `most`, inclusive; with `above_least`, `least` itself is excluded.
template <typename Number>
struct ValueRange {
  Number least = std::numeric_limits<Number>::lowest();
  Number most = std::numeric_limits<Number>::max();
  bool above_least = false;

  /// False for NaN.
  bool holds(Number value) const { return (above_least ? value > least : value >= least) && value <= most; }
};

/// Maximum beam size in files and on the command line.
constexpr int kMaxBeamSize = 1024;

constexpr ValueRange<int> kBeamSizes{1, kMaxBeamSize};
/// Numbers of translations of a line, or of samples of a prompt.
constexpr ValueRange<int> kCounts{1, kMaxBeamSize};
/// Lengths that include start and end token.
constexpr ValueRange<int64_t> kLengths{2, int64_t{1} << 20};
/// Numbers of tokens.
constexpr ValueRange<int64_t> kMinLengths{0, int64_t{1} << 20};
/// Numbers of new tokens.
constexpr ValueRange<int64_t> kNewTokens{1, int64_t{1} << 20};
constexpr ValueRange<double> kLengthPenalties{-100, 100};
constexpr ValueRange<int> kNgramSizes{0, 1000};
constexpr ValueRange<int> kDraftTokens{0, 64};
constexpr ValueRange<double> kRepetitionPenalties{0, 1000, true};
constexpr ValueRange<double> kTemperatures{0, 1e6};  ///< 0: greedy search
constexpr ValueRange<int> kTopK{0, std::numeric_limits<int>::max()};
constexpr ValueRange<double> kTopP{0, 1, true};
constexpr ValueRange<double> kMinP{0, 1};
/// Source tokens of a batch.
constexpr ValueRange<int64_t> kBatchTokens{1, int64_t{1} << 30};
constexpr ValueRange<uint64_t> kSeeds{};

}  // namespace heed::models
