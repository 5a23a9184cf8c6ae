#include "train/shared_state.h"

#include "distributed/collectives.h"
#include "train/parameter_slices.h"

namespace heed::train {
namespace {

using distributed::Communicator;

void* data_of(const nn::ParameterArray& array) {
  return array.defined() ? array.flat().bytes() : nullptr;
}

/// The array of rank 0, of which `own` becomes the slices of this rank.
void scatter(Communicator& ranks, const nn::ParameterTable& table, const nn::ParameterArray& whole,
             Tensor& own) {
  const ParameterSlices slices(table, ranks);
  const auto arrays = slices.arrays(data_of(whole), sizeof(float));
  for (size_t n = 0; n < arrays.size(); ++n) {
    distributed::scatter(ranks, arrays[n], own.data<float>() + slices.own_offset(n));
  }
}

/// The array, on rank 0, of the slices of all ranks.
nn::ParameterArray gathered(Communicator& ranks, const nn::ParameterTable& table, const Tensor& own) {
  nn::ParameterArray whole;
  if (ranks.is_first()) whole = nn::ParameterArray::unset(table);
  const ParameterSlices slices(table, ranks);
  const auto arrays = slices.arrays(data_of(whole), sizeof(float));
  for (size_t n = 0; n < arrays.size(); ++n) {
    distributed::gather(ranks, arrays[n], own.data<float>() + slices.own_offset(n));
  }
  return whole;
}

/// Each rank has its slices in place; afterwards rank 0 has the whole array.
void gather_in_place(Communicator& ranks, const nn::ParameterTable& table, nn::ParameterArray& array) {
  auto* const data = array.flat().data<float>();
  const ParameterSlices slices(table, ranks);
  const auto arrays = slices.arrays(data, sizeof(float));
  for (size_t n = 0; n < arrays.size(); ++n) {
    distributed::gather(ranks, arrays[n], data + slices.own(n).begin);
  }
}

}  // namespace

void share_checkpoint(Communicator& ranks, const nn::ParameterTable& table, Checkpoint& checkpoint,
                      Optimizer& optimizer) {
  if (ranks.size() == 1) {
    optimizer.first_moment() = checkpoint.first_moment.flat();
    optimizer.second_moment() = checkpoint.second_moment.flat();
  } else {
    checkpoint.state = state_from_text(distributed::broadcast_strings(ranks, {to_text(checkpoint.state)})[0]);
    broadcast_parameters(ranks, table, checkpoint.values);
    if (checkpoint.average.defined()) broadcast_parameters(ranks, table, checkpoint.average);
    scatter(ranks, table, checkpoint.first_moment, optimizer.first_moment());
    scatter(ranks, table, checkpoint.second_moment, optimizer.second_moment());
  }
  checkpoint.first_moment = checkpoint.second_moment = {};
}

Checkpoint whole_checkpoint(Communicator& ranks, const nn::ParameterTable& table,
                            const Checkpoint& checkpoint, Optimizer& optimizer) {
  Checkpoint whole = checkpoint;
  if (ranks.size() == 1) {
    whole.first_moment.flat() = optimizer.first_moment();
    whole.second_moment.flat() = optimizer.second_moment();
    return whole;
  }
  whole.first_moment = gathered(ranks, table, optimizer.first_moment());
  whole.second_moment = gathered(ranks, table, optimizer.second_moment());
  if (checkpoint.average.defined()) gather_in_place(ranks, table, whole.average);
  return whole;
}

void all_gather_parameters(Communicator& ranks, const nn::ParameterTable& table, nn::ParameterArray& array) {
  distributed::all_gather(ranks, ParameterSlices(table, ranks).arrays(array.flat().bytes(), sizeof(float)));
}

void broadcast_parameters(Communicator& ranks, const nn::ParameterTable& table, nn::ParameterArray& array) {
  distributed::broadcast(
      ranks, {array.flat().bytes(), sizeof(float), distributed::Slices(table.elements(), ranks.size())});
}

}  // namespace heed::train
