// The state of a training on several ranks: each has all weights, and the optimizer state and running average
// of its slices. A checkpoint has all of it, so a training can be resumed with any number of ranks.
#pragma once

#include "distributed/communicator.h"
#include "nn/storage/parameters.h"
#include "train/checkpoint.h"
#include "train/optimizer.h"

namespace heed::train {

/// Rank 0 has a whole checkpoint. Afterwards every rank has its state and weights in `checkpoint`, its slices
/// of the average there, and its slices of the moments in `optimizer`.
void share_checkpoint(distributed::Communicator& ranks, const nn::ParameterTable& table,
                      Checkpoint& checkpoint, Optimizer& optimizer);

/// The reverse: the whole checkpoint on rank 0. On the others, the result is not complete.
Checkpoint whole_checkpoint(distributed::Communicator& ranks, const nn::ParameterTable& table,
                            const Checkpoint& checkpoint, Optimizer& optimizer);

/// Each rank has its slices of the parameters (parameter_slices.h); afterwards all have the whole array.
void all_gather_parameters(distributed::Communicator& ranks, const nn::ParameterTable& table,
                           nn::ParameterArray& array);
/// Rank 0 has the whole array; afterwards all have it.
void broadcast_parameters(distributed::Communicator& ranks, const nn::ParameterTable& table,
                          nn::ParameterArray& array);

}  // namespace heed::train
