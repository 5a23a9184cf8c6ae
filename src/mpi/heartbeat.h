// Notices ranks that have died without their launcher noticing: a machine without power or network.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace heed::distributed {

/// A thread that exchanges a message with rank 0 every second, or on rank 0 with all others. If nothing
/// arrives for $HEED_MPI_TIMEOUT seconds (8 unless set; 0: no limit), it says so and ends the job. Needs
/// MPI_THREAD_MULTIPLE.
class Heartbeat {
 public:
  ~Heartbeat() { stop(); }
  /// All ranks call it at the same time.
  void start();
  /// Ranks may call it at different times: rank 0 waits until all others have.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;

  /// The connection to another rank.
  struct Peer {
    int rank = 0;
    char beat = 0;  // the message that is received
    MPI_Request receive = MPI_REQUEST_NULL, send = MPI_REQUEST_NULL;
    Clock::time_point heard{}, sent{};
    char sent_beat = 0;  // the message that is sent
    bool has_stopped = false, told_to_stop = false;
  };

  void run();
  /// Receives and sends what is due; returns whether both sides have stopped.
  bool attend_to(Peer& peer, Clock::time_point now);
  void receive(Peer& peer);
  void send(Peer& peer, Clock::time_point now);
  [[noreturn]] void give_up(const Peer& peer) const;

  MPI_Comm messages_ = MPI_COMM_NULL;
  int seconds_ = 0;  // without a message after which a rank counts as dead
  std::vector<Peer> peers_;
  std::vector<std::string> hosts_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace heed::distributed
