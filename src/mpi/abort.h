// Ends all processes of the job.
#pragma once

namespace heed::distributed {

/// Ends all processes of the job with status 1, this one included. What has been written to standard error
/// before, the cause of it all, reaches the user. Threads of this process may be in MPI.
[[noreturn]] void abort_job();

}  // namespace heed::distributed
