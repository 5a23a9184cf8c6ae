// Collective operations: every rank calls the same functions in the same order.
//
// Arrays travel in slices, straight from the rank that has a slice to the ranks that need it. So each rank
// sends and receives every element at most once, as little as in a ring, in one round.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

#include "distributed/communicator.h"
#include "distributed/slices.h"

namespace heed::distributed {

/// An array of which each rank has its slice or gets it.
struct SlicedArray {
  void* data = nullptr;
  size_t element_bytes = 1;
  Slices slices;
};

/// Each rank has its slice; afterwards all have the whole array.
void all_gather(Communicator& ranks, const SlicedArray& array);
/// The same for several arrays at once.
void all_gather(Communicator& ranks, const std::vector<SlicedArray>& arrays);
/// Each rank has its slice in `own`; afterwards rank 0 has the whole array. Other ranks need no memory for
/// it: there, the data is not used.
void gather(Communicator& ranks, const SlicedArray& array, const void* own);
/// Rank 0 has the whole array; afterwards each rank has its slice in `own`.
void scatter(Communicator& ranks, const SlicedArray& array, void* own);
/// Rank 0 has the whole array; afterwards all have it.
void broadcast(Communicator& ranks, const SlicedArray& array);

/// The values of all ranks, by rank.
template <typename T>
std::vector<T> all_gather_values(Communicator& ranks, const T& own) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<size_t>(ranks.size()));
  all[static_cast<size_t>(ranks.rank())] = own;
  all_gather(ranks, {all.data(), sizeof(T), Slices(ranks.size(), ranks.size())});
  return all;
}

/// The value of rank 0.
template <typename T>
T broadcast_value(Communicator& ranks, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  T result = value;
  broadcast(ranks, {&result, sizeof(T), Slices(1, ranks.size())});
  return result;
}

/// The strings of rank 0.
std::vector<std::string> broadcast_strings(Communicator& ranks, const std::vector<std::string>& strings);
/// The strings of all ranks, by rank.
std::vector<std::vector<std::string>> all_gather_strings(Communicator& ranks,
                                                         const std::vector<std::string>& own);

}  // namespace heed::distributed
