#include "train/reduce/parameter_slices.h"

#include <algorithm>

namespace heed::train {
namespace {

/// A section has at least so many chunks, 4 MB, which a network of 1 Gbit/s transfers in 34 ms: long against
/// the delay of a message, short against a backward pass.
constexpr int64_t kLeastChunks = 16;

/// Each rank gets the same number of chunks. One rank sends nothing, and needs no sections.
int64_t section_size(int64_t elements, int ranks) {
  if (ranks == 1) return std::max<int64_t>(elements, 1);
  return (kLeastChunks + ranks - 1) / ranks * ranks * kOptimizerChunk;
}

}  // namespace

ParameterSlices::ParameterSlices(int64_t elements, int ranks, int rank) {
  const int64_t size = section_size(elements, ranks);
  for (int64_t begin = 0; begin < elements; begin += size) {
    sections_.push_back({begin, std::min(begin + size, elements)});
    slices_.emplace_back(sections_.back().size(), ranks, kOptimizerChunk);
    own_.push_back(of(sections_.size() - 1, rank));
    own_offsets_.push_back(own_offsets_.back() + own_.back().size());
  }
}

Range ParameterSlices::of(size_t section, int rank) const {
  const Range slice = slices_[section].of(rank);
  return {sections_[section].begin + slice.begin, sections_[section].begin + slice.end};
}

std::vector<distributed::SlicedArray> ParameterSlices::arrays(void* data, size_t element_bytes) const {
  std::vector<distributed::SlicedArray> arrays;
  for (size_t n = 0; n < sections(); ++n) {
    const size_t offset = static_cast<size_t>(sections_[n].begin) * element_bytes;
    void* const begin = data == nullptr ? nullptr : static_cast<char*>(data) + offset;
    arrays.push_back({begin, element_bytes, slices_[n]});
  }
  return arrays;
}

}  // namespace heed::train
