// Messages by MPI. Compiled once for each MPI implementation, since their binary interfaces differ.
//
// Every wait asks MPI whether it is done and sleeps in between, so that ranks that wait for others, such as
// for rank 0 while it writes a checkpoint, leave the processor to them. (MPI's own waits keep it busy.)
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/blocked_signals.h"
#include "base/check.h"
#include "distributed/communicator.h"
#include "distributed/launch.h"
#include "heed/version.h"
#include "mpi/abort.h"
#include "mpi/heartbeat.h"

namespace heed::distributed {
namespace {

/// MPI counts bytes in an int: longer messages are sent in pieces.
constexpr size_t kLargestPiece = size_t{1} << 30;
constexpr int kTriesBeforeSleep = 2000;
constexpr useconds_t kSleepMicroseconds = 50;
constexpr int kTag = 1;

class MpiCommunicator : public Communicator {
 public:
  MpiCommunicator() {
    const BlockedSignals blocked;
    int initialized = 0, provided = 0;
    ::MPI_Initialized(&initialized);
    if (initialized == 0) {
      ::MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
      owns_mpi_ = true;
    } else {
      ::MPI_Query_thread(&provided);
    }
    if (provided < MPI_THREAD_SERIALIZED) {
      fail(ErrorKind::kUsage,
           "MPI was initialized for calls from one thread, and Heed exchanges gradients in another: call "
           "MPI_Init_thread with MPI_THREAD_MULTIPLE, or MPI_THREAD_SERIALIZED at least");
    }
    ::MPI_Comm_dup(MPI_COMM_WORLD, &messages_);
    ::MPI_Comm_rank(messages_, &rank_);
    ::MPI_Comm_size(messages_, &size_);
    if (provided == MPI_THREAD_MULTIPLE && size_ > 1) heartbeat_.start();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void give_up() override { given_up_ = true; }

  void exchange(const std::vector<Outgoing>& outgoing, const std::vector<Incoming>& incoming) override {
    std::vector<MPI_Request> requests;
    for (const Incoming& each : incoming) {
      for (size_t at = 0; at < each.size; at += kLargestPiece) {
        const int size = static_cast<int>(std::min(kLargestPiece, each.size - at));
        ::MPI_Irecv(static_cast<char*>(each.data) + at, size, MPI_BYTE, each.from, kTag, messages_,
                    &requests.emplace_back());
      }
    }
    // Every rank begins with its right neighbour, so that not all send to the same one at first.
    std::vector<Outgoing> in_turn = outgoing;
    std::ranges::stable_sort(in_turn, {},
                             [&](const Outgoing& each) { return (each.to - rank_ + size_) % size_; });
    for (const Outgoing& each : in_turn) {
      for (size_t at = 0; at < each.size; at += kLargestPiece) {
        const int size = static_cast<int>(std::min(kLargestPiece, each.size - at));
        ::MPI_Isend(static_cast<const char*>(each.data) + at, size, MPI_BYTE, each.to, kTag, messages_,
                    &requests.emplace_back());
      }
    }
    wait_for(requests);
  }

  /// Called when the process exits.
  void end() {
    int finalized = 0;
    ::MPI_Finalized(&finalized);
    if (finalized != 0) return;
    // How this process ends is decided. A launcher sends SIGTERM when another one has ended before it.
    std::signal(SIGTERM, SIG_IGN);
    if (given_up_) abort_job();
    heartbeat_.stop();
    ::MPI_Comm_free(&messages_);
    if (owns_mpi_) ::MPI_Finalize();
  }

 private:
  static void wait_for(std::vector<MPI_Request>& requests) {
    for (int tries = 0;; ++tries) {
      int done = 0;
      ::MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
      if (done != 0) return;
      if (tries < kTriesBeforeSleep) {
        ::sched_yield();
      } else {
        ::usleep(kSleepMicroseconds);
      }
    }
  }

  MPI_Comm messages_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  bool owns_mpi_ = false, given_up_ = false;
  Heartbeat heartbeat_;
};

MpiCommunicator& communicator() {
  static auto* const instance = new MpiCommunicator;  // used until the process ends
  return *instance;
}

}  // namespace
}  // namespace heed::distributed

extern "C" __attribute__((visibility("default"))) heed::distributed::Communicator* heed_mpi_communicator(
    const char* version) {
  using heed::distributed::communicator;
  if (std::string_view(version) != HEED_VERSION) return nullptr;
  heed::distributed::Communicator& found = communicator();  // throws if it cannot be used
  static const int registered = std::atexit([] { communicator().end(); });
  return registered == 0 ? &found : nullptr;
}
