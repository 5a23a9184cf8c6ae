// Messages between the processes that train one model together. Rank r is process number r.
//
// There are only messages from one rank to another. They copy bytes and add nothing on the way, so results
// cannot depend on the network or on the MPI library. Collective operations are built on them: collectives.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heed::distributed {

struct Outgoing {
  int to = 0;
  const void* data = nullptr;
  size_t size = 0;  ///< in bytes
};

struct Incoming {
  int from = 0;
  void* data = nullptr;
  size_t size = 0;  ///< in bytes, as the sender says
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_first() const { return rank() == 0; }

  /// Sends and receives all of these messages; returns when all have arrived. Messages from one rank to
  /// another arrive in the order in which they were sent. From any thread, but one at a time. If a rank dies,
  /// all processes end.
  virtual void exchange(const std::vector<Outgoing>& outgoing, const std::vector<Incoming>& incoming) = 0;

  /// Called when an error ends the work of this rank alone: when this process exits, all others are ended
  /// too, since they would wait for it forever.
  virtual void give_up() = 0;
};

/// The communicator of a process that trains by itself: rank 0 of 1.
Communicator& single_process();

/// The name of this machine, for messages.
std::string host_name();

}  // namespace heed::distributed
