#include "distributed/collectives.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace heed::distributed {
namespace {

constexpr size_t kSmall = 1024;  // bytes

struct Bytes {
  char* data = nullptr;
  size_t size = 0;
};

size_t slice_bytes(const SlicedArray& array, int rank) {
  return static_cast<size_t>(array.slices.of(rank).size()) * array.element_bytes;
}

Bytes slice(const SlicedArray& array, int rank) {
  const auto begin = static_cast<size_t>(array.slices.of(rank).begin);
  return {static_cast<char*>(array.data) + begin * array.element_bytes, slice_bytes(array, rank)};
}

/// The messages of one collective operation. Empty ones are left out, on both sides.
class Messages {
 public:
  explicit Messages(Communicator& ranks) : ranks_(ranks) {}
  void send(int to, const void* data, size_t size) {
    if (size > 0 && to != ranks_.rank()) outgoing_.push_back({to, data, size});
  }
  void receive(int from, const Bytes& bytes) {
    if (bytes.size > 0 && from != ranks_.rank()) incoming_.push_back({from, bytes.data, bytes.size});
  }
  void exchange() { ranks_.exchange(outgoing_, incoming_); }

 private:
  Communicator& ranks_;
  std::vector<Outgoing> outgoing_;
  std::vector<Incoming> incoming_;
};

/// Each string as its length and its bytes.
std::string to_bytes(const std::vector<std::string>& strings) {
  std::string bytes;
  for (const std::string& each : strings) {
    const uint64_t size = each.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    bytes += each;
  }
  return bytes;
}

std::vector<std::string> from_bytes(const char* data, size_t size) {
  std::vector<std::string> strings;
  for (size_t at = 0; at < size;) {
    uint64_t length = 0;
    HEED_CHECK(size - at >= sizeof length);
    std::memcpy(&length, data + at, sizeof length);
    at += sizeof length;
    HEED_CHECK(size - at >= length);
    strings.emplace_back(data + at, length);
    at += length;
  }
  return strings;
}

}  // namespace

void all_gather(Communicator& ranks, const SlicedArray& array) {
  all_gather(ranks, std::vector<SlicedArray>{array});
}

void all_gather(Communicator& ranks, const std::vector<SlicedArray>& arrays) {
  Messages messages(ranks);
  for (const SlicedArray& array : arrays) {
    const Bytes own = slice(array, ranks.rank());
    for (int rank = 0; rank < ranks.size(); ++rank) {
      messages.send(rank, own.data, own.size);
      messages.receive(rank, slice(array, rank));
    }
  }
  messages.exchange();
}

void gather(Communicator& ranks, const SlicedArray& array, const void* own) {
  Messages messages(ranks);
  if (ranks.is_first()) {
    for (int rank = 1; rank < ranks.size(); ++rank) messages.receive(rank, slice(array, rank));
    const Bytes part = slice(array, 0);
    if (part.data != own) std::copy_n(static_cast<const char*>(own), part.size, part.data);
  } else {
    messages.send(0, own, slice_bytes(array, ranks.rank()));
  }
  messages.exchange();
}

void scatter(Communicator& ranks, const SlicedArray& array, void* own) {
  Messages messages(ranks);
  if (ranks.is_first()) {
    for (int rank = 1; rank < ranks.size(); ++rank) {
      messages.send(rank, slice(array, rank).data, slice_bytes(array, rank));
    }
    const Bytes part = slice(array, 0);
    if (part.data != own) std::copy_n(part.data, part.size, static_cast<char*>(own));
  } else {
    messages.receive(0, {static_cast<char*>(own), slice_bytes(array, ranks.rank())});
  }
  messages.exchange();
}

/// A large array in slices, so that rank 0 does not send all of it to every rank; a small one in one round.
void broadcast(Communicator& ranks, const SlicedArray& array) {
  const auto elements = static_cast<size_t>(array.slices.of(ranks.size() - 1).end);
  if (elements * array.element_bytes <= kSmall) {
    const Bytes whole{static_cast<char*>(array.data), elements * array.element_bytes};
    Messages messages(ranks);
    for (int rank = 1; rank < ranks.size(); ++rank) {
      if (ranks.is_first()) messages.send(rank, whole.data, whole.size);
    }
    if (!ranks.is_first()) messages.receive(0, whole);
    messages.exchange();
    return;
  }
  scatter(ranks, array, slice(array, ranks.rank()).data);
  all_gather(ranks, array);
}

std::vector<std::string> broadcast_strings(Communicator& ranks, const std::vector<std::string>& strings) {
  std::string bytes = to_bytes(strings);
  bytes.resize(broadcast_value(ranks, bytes.size()));
  broadcast(ranks, {bytes.data(), 1, Slices(static_cast<int64_t>(bytes.size()), ranks.size())});
  return from_bytes(bytes.data(), bytes.size());
}

std::vector<std::vector<std::string>> all_gather_strings(Communicator& ranks,
                                                         const std::vector<std::string>& own) {
  std::string bytes = to_bytes(own);
  const std::vector<size_t> sizes = all_gather_values(ranks, bytes.size());
  std::vector<std::string> all;
  for (const size_t size : sizes) all.emplace_back(size, '\0');
  Messages messages(ranks);
  for (int rank = 0; rank < ranks.size(); ++rank) {
    messages.send(rank, bytes.data(), bytes.size());
    messages.receive(rank, {all[static_cast<size_t>(rank)].data(), sizes[static_cast<size_t>(rank)]});
  }
  messages.exchange();
  all[static_cast<size_t>(ranks.rank())] = bytes;
  std::vector<std::vector<std::string>> lists;
  for (const std::string& each : all) lists.push_back(from_bytes(each.data(), each.size()));
  return lists;
}

}  // namespace heed::distributed
