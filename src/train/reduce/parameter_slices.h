// Which rank updates which parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "distributed/collectives.h"
#include "distributed/communicator.h"
#include "distributed/slices.h"
#include "nn/storage/parameters.h"

namespace heed::train {

using distributed::Range;

/// The optimizer works on the flat array of parameters in chunks of this many elements. Sums over all
/// elements add up one number for each chunk, so chunks are not divided between ranks.
constexpr int64_t kOptimizerChunk = 1 << 16;

/// The flat array of parameters is divided into sections, and each section into one slice for each rank. A
/// rank sums the gradients of its slices, has their optimizer state, and updates them.
///
/// Sections are what travels at once: while the backward pass computes the gradients of the next one, all
/// ranks exchange one whose gradients are final. If each rank had one slice of the whole array, all would
/// send to the same rank at that time, whose link would be the bottleneck.
class ParameterSlices {
 public:
  ParameterSlices(const nn::ParameterTable& table, const distributed::Communicator& ranks)
      : ParameterSlices(table.elements(), ranks.size(), ranks.rank()) {}
  ParameterSlices(int64_t elements, int ranks, int rank);

  size_t sections() const { return sections_.size(); }
  const Range& section(size_t n) const { return sections_[n]; }
  /// The slice of a rank in a section: elements of the whole array.
  Range of(size_t section, int rank) const;
  /// The slice of this rank.
  const Range& own(size_t section) const { return own_[section]; }
  /// Where the slice of this rank begins in an array of all its slices, one behind the other.
  int64_t own_offset(size_t section) const { return own_offsets_[section]; }
  /// The length of that array.
  int64_t own_size() const { return own_offsets_.back(); }

  /// The sections of an array of all parameters, with one element of so many bytes for each.
  std::vector<distributed::SlicedArray> arrays(void* data, size_t element_bytes) const;

 private:
  std::vector<Range> sections_;
  std::vector<distributed::Slices> slices_;  // of each section, relative to its first element
  std::vector<Range> own_;
  std::vector<int64_t> own_offsets_{0};
};

}  // namespace heed::train
