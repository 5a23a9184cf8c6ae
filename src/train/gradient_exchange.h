// Sums gradients over ranks: the nodes of the reduction tree travel, one slice of the parameters to each
// rank, and each rank adds up its slice in the order of the tree.
//
// This is what a reduce-scatter does, except that nobody adds in an order of their own: MPI_Allreduce and its
// relatives give other bits for other numbers of processes. If the number of shards is a power of two that
// the number of ranks divides, each rank has one node, and the traffic is that of a ring.
#pragma once

#include <vector>

#include "base/thread_pool.h"
#include "distributed/communicator.h"
#include "distributed/slices.h"
#include "nn/parameters.h"
#include "train/reduction_tree.h"

namespace heed::train {

class GradientExchange {
 public:
  /// Table and communicator must outlive this.
  GradientExchange(const nn::ParameterTable& table, distributed::Communicator& ranks);

  /// `shards` are the shards of each rank, and `sums` the nodes of those of this rank (GradientTree::sums).
  /// The slice of this rank (parameter_slices.h) in the first of them becomes the sum over all shards; the
  /// other elements are of no use afterwards. With one rank, nothing is to be done.
  void sum(ThreadPool& pool, const ReductionTree& tree, const distributed::Slices& shards,
           std::vector<nn::ParameterArray>& sums);

 private:
  distributed::Communicator& ranks_;
  distributed::Slices slices_;
  std::vector<float> received_;  // the slices of the other ranks' nodes, one after the other
};

}  // namespace heed::train
