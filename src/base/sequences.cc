#include "base/sequences.h"

#include "base/check.h"

namespace heed {

std::span<const int32_t> Sequences::operator[](int sequence) const {
  HEED_CHECK(sequence >= 0 && sequence < count());
  const auto begin = static_cast<size_t>(offsets[sequence]), end = static_cast<size_t>(offsets[sequence + 1]);
  return std::span(ids).subspan(begin, end - begin);
}

void Sequences::append(std::span<const int32_t> sequence) {
  ids.insert(ids.end(), sequence.begin(), sequence.end());
  close();
}

void Sequences::close() {
  HEED_CHECK(ids.size() <= size_t{INT32_MAX});
  offsets.push_back(static_cast<int32_t>(ids.size()));
}

}  // namespace heed
