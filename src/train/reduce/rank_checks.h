// What has to be the same on all ranks of a training, since weights would otherwise not be those of one
// process.
#pragma once

#include <cstdint>

#include "distributed/communicator.h"
#include "train/loop/trainer.h"

namespace heed::train {

/// Throws an AgreedError of kind kUsage, naming the ranks that differ in the build of Heed, the instruction
/// set, the recipe or the limits, and for more ranks than shards.
void require_equal_ranks(distributed::Communicator& ranks, const TrainerOptions& options);

/// The same for the text that each rank has read.
void require_equal_text(distributed::Communicator& ranks, uint64_t fingerprint);

/// The same for gradients that every rank has computed from the same shard.
void require_equal_gradients(distributed::Communicator& ranks, uint64_t fingerprint);

/// Waits until a file that rank 0 has written shows up on this machine. Throws kNotFound after some seconds.
void wait_for_file(const std::string& path);

}  // namespace heed::train
