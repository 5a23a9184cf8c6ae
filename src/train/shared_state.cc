#include "train/shared_state.h"

#include "distributed/collectives.h"
#include "train/parameter_slices.h"

namespace heed::train {
namespace {

using distributed::Communicator;
using distributed::SlicedArray;

/// The array of rank 0, of which `own` becomes the slice of this rank.
void scatter(Communicator& ranks, const nn::ParameterTable& table, const nn::ParameterArray& whole,
             Tensor& own) {
  const distributed::Slices slices = parameter_slices(table, ranks);
  void* const data = whole.defined() ? whole.flat().bytes() : nullptr;
  distributed::scatter(ranks, {data, sizeof(float), slices}, own.data<float>());
}

/// The array, on rank 0, of the slices of all ranks.
nn::ParameterArray gathered(Communicator& ranks, const nn::ParameterTable& table, const Tensor& own) {
  nn::ParameterArray whole;
  if (ranks.is_first()) whole = nn::ParameterArray::unset(table);
  const distributed::Slices slices = parameter_slices(table, ranks);
  void* const data = whole.defined() ? whole.flat().bytes() : nullptr;
  distributed::gather(ranks, {data, sizeof(float), slices}, own.data<float>());
  return whole;
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
  if (checkpoint.average.defined()) {
    const distributed::Slices slices = parameter_slices(table, ranks);
    auto* const average = whole.average.flat().data<float>();
    distributed::gather(ranks, {average, sizeof(float), slices}, average + slices.of(ranks.rank()).begin);
  }
  return whole;
}

void all_gather_parameters(Communicator& ranks, const nn::ParameterTable& table, nn::ParameterArray& array) {
  const distributed::Slices slices = parameter_slices(table, ranks);
  distributed::all_gather(ranks, {array.flat().bytes(), sizeof(float), slices});
}

void broadcast_parameters(Communicator& ranks, const nn::ParameterTable& table, nn::ParameterArray& array) {
  const distributed::Slices slices = parameter_slices(table, ranks);
  distributed::broadcast(ranks, {array.flat().bytes(), sizeof(float), slices});
}

}  // namespace heed::train
