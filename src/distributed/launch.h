// Finds out whether this process was started together with others, by mpirun or srun, and connects to them.
//
// MPI is used through a library of its own, src/mpi, of which there is one for each MPI implementation:
// libheed_openmpi.so and libheed_mpich.so. Only a process that a launcher started together with others loads
// one, so the command and libheed.so run where no MPI is installed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "distributed/communicator.h"

namespace heed::distributed {

/// What the environment says about how this process was started.
struct Launch {
  int processes = 1;     ///< that were started together; 0: unknown, but started by a launcher
  std::string launcher;  ///< for messages: "mpirun of Open MPI"
  /// The MPI implementations to try, in this order: "openmpi" or "mpich". Empty although there are several
  /// processes: they were not started for MPI.
  std::vector<std::string> implementations;
};

/// `variable` returns the value of an environment variable, or null.
Launch find_launch(const std::function<const char*(const char*)>& variable);

/// The communicator of all processes that were started together with this one; the same at every call. Throws
/// kUsage if there are others that it cannot be connected to, since each of them would then train by itself.
Communicator& world();

/// The function that src/mpi exports; null for another version of Heed.
using MpiCommunicatorFunction = Communicator*(const char* version);
constexpr const char* kMpiCommunicatorFunction = "heed_mpi_communicator";

}  // namespace heed::distributed
