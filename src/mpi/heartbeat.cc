#include "mpi/heartbeat.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "distributed/communicator.h"
#include "mpi/abort.h"

namespace heed::distributed {
namespace {

constexpr char kAlive = 0, kLast = 1;
constexpr int kDefaultSeconds = 8;
constexpr std::chrono::milliseconds kPeriod(1000), kTick(50);

int timeout_seconds() {
  const char* const setting = std::getenv("HEED_MPI_TIMEOUT");
  if (setting == nullptr) return kDefaultSeconds;
  const std::string_view digits(setting);
  int seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (error != std::errc() || end != digits.data() + digits.size() || seconds < 0) {
    fail(ErrorKind::kUsage, "HEED_MPI_TIMEOUT is '{}'; it must be a number of seconds, or 0 for no limit",
         setting);
  }
  return seconds;
}

}  // namespace

void Heartbeat::start() {
  int rank = 0, size = 1;
  ::MPI_Comm_dup(MPI_COMM_WORLD, &messages_);
  ::MPI_Comm_rank(messages_, &rank);
  ::MPI_Comm_size(messages_, &size);
  if (rank == 0) seconds_ = timeout_seconds();
  ::MPI_Bcast(&seconds_, 1, MPI_INT, 0, messages_);
  using Name = std::array<char, 64>;
  Name own{};
  std::snprintf(own.data(), own.size(), "%s", host_name().c_str());
  std::vector<Name> names(static_cast<size_t>(size));
  ::MPI_Allgather(own.data(), own.size(), MPI_CHAR, names.data(), own.size(), MPI_CHAR, messages_);
  for (const Name& name : names) hosts_.emplace_back(name.data());
  if (seconds_ <= 0) return;
  for (int other = 0; other < size; ++other) {
    if (other != rank && (rank == 0 || other == 0)) peers_.push_back({.rank = other});
  }
  for (Peer& peer : peers_) receive(peer);
  thread_ = std::thread([this] { run(); });
}

void Heartbeat::stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  if (messages_ != MPI_COMM_NULL) ::MPI_Comm_free(&messages_);
}

void Heartbeat::receive(Peer& peer) {
  ::MPI_Irecv(&peer.beat, 1, MPI_CHAR, peer.rank, 0, messages_, &peer.receive);
}

void Heartbeat::send(Peer& peer, Clock::time_point now) {
  peer.told_to_stop = stopping_;
  peer.sent_beat = peer.told_to_stop ? kLast : kAlive;
  peer.sent = now;
  ::MPI_Isend(&peer.sent_beat, 1, MPI_CHAR, peer.rank, 0, messages_, &peer.send);
}

bool Heartbeat::attend_to(Peer& peer, Clock::time_point now) {
  int arrived = 0, sent = 0;
  if (!peer.has_stopped) ::MPI_Test(&peer.receive, &arrived, MPI_STATUS_IGNORE);
  if (arrived != 0) {
    peer.heard = now;
    peer.has_stopped = peer.beat == kLast;
    if (!peer.has_stopped) receive(peer);
  }
  ::MPI_Test(&peer.send, &sent, MPI_STATUS_IGNORE);  // true if there is none
  if (sent != 0 && !peer.told_to_stop && (stopping_ || now - peer.sent >= kPeriod)) {
    send(peer, now);
    sent = 0;
  }
  if (!peer.has_stopped && now - peer.heard > std::chrono::seconds(seconds_)) give_up(peer);
  return peer.has_stopped && peer.told_to_stop && sent != 0;
}

void Heartbeat::run() {
  Clock::time_point last = Clock::now();
  for (Peer& peer : peers_) peer.heard = last;
  for (bool done = false; !done; std::this_thread::sleep_for(kTick)) {
    const Clock::time_point now = Clock::now();
    if (now - last > 2 * kPeriod) {  // this process was suspended, and so may the others have been
      for (Peer& peer : peers_) peer.heard = now;
    }
    last = now;
    done = true;
    for (Peer& peer : peers_) {
      if (!attend_to(peer, now)) done = false;
    }
  }
}

void Heartbeat::give_up(const Peer& peer) const {
  std::fprintf(
      stderr,
      "heed: nothing was heard of rank %d (%s) for %d seconds: the process or its machine is dead or cut "
      "off. The training ends here; the same command resumes it from the last checkpoint\n",
      peer.rank, hosts_[static_cast<size_t>(peer.rank)].c_str(), seconds_);
  abort_job();
}

}  // namespace heed::distributed
