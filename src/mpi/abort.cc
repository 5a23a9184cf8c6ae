#include "mpi/abort.h"

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace heed::distributed {
namespace {

/// MPICH's launcher drops what it has not forwarded yet when a process aborts.
constexpr std::chrono::milliseconds kTimeToForward(300);
constexpr unsigned kSecondsToAbort = 1;

}  // namespace

void abort_job() {
  std::fflush(nullptr);
  std::this_thread::sleep_for(kTimeToForward);
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarm_signal;
  sigemptyset(&alarm_signal);
  sigaddset(&alarm_signal, SIGALRM);
  ::pthread_sigmask(SIG_UNBLOCK, &alarm_signal, nullptr);
  ::alarm(kSecondsToAbort);  // in case MPI waits for a process that is dead
  ::MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  ::_exit(EXIT_FAILURE);
}

}  // namespace heed::distributed
