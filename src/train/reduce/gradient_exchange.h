// Sums gradients over ranks: the nodes of the reduction tree travel, one slice of the parameters to each
// rank, and each rank adds up its slice in the order of the tree.
//
// This is what a reduce-scatter does, except that nobody adds in an order of their own: MPI_Allreduce and its
// relatives give other bits for other numbers of processes. If the number of shards is a power of two that
// the number of ranks divides, each rank has one node, and the traffic is that of a ring.
//
// The messages overlap the backward pass: a section of the parameters (parameter_slices.h) travels as soon as
// all shards of this rank have its gradients. The additions come at the end, on all threads.
#pragma once

#include <exception>
#include <thread>
#include <vector>

#include "base/thread_pool.h"
#include "distributed/communicator.h"
#include "nn/storage/parameters.h"
#include "train/reduce/gradient_tree.h"
#include "train/reduce/parameter_slices.h"
#include "train/reduce/reduction_tree.h"

namespace heed::train {

/// Of a process that trains alone: nothing travels.
class GradientExchange {
 public:
  GradientExchange() = default;
  virtual ~GradientExchange() = default;
  GradientExchange(const GradientExchange&) = delete;
  GradientExchange& operator=(const GradientExchange&) = delete;

  /// After GradientTree::begin: starts a thread that exchanges sections as they become complete. Until
  /// finish() or cancel(), the communicator belongs to that thread.
  virtual void begin(const ReductionTree& /*tree*/) {}
  /// Waits for all messages. Then all sections of GradientTree are complete, on all ranks.
  virtual void finish() {}
  /// Ends the thread without waiting for sections that are not complete. The other ranks wait in vain.
  virtual void cancel() {}
  /// After finish(): `sums` are GradientTree::sums(). The slices of this rank in the first of them become the
  /// sum over all shards; the other elements are of no use afterwards.
  virtual void add_up(ThreadPool& /*pool*/, std::vector<nn::ParameterArray>& /*sums*/) {}
};

class RankGradientExchange : public GradientExchange {
 public:
  /// All must outlive this.
  RankGradientExchange(const ParameterSlices& slices, distributed::Communicator& ranks, GradientTree& own)
      : slices_(slices), ranks_(ranks), own_(own) {}
  ~RankGradientExchange() override { RankGradientExchange::cancel(); }

  void begin(const ReductionTree& tree) override;
  void finish() override;
  void cancel() override;
  void add_up(ThreadPool& pool, std::vector<nn::ParameterArray>& sums) override;

 private:
  /// A node of the tree, of any rank.
  struct Node {
    int rank = 0;
    TreeNode node;
    size_t number = 0;  ///< among the nodes of this rank, or among those that are received
  };
  void exchange(size_t section);
  /// This rank's slice of a section of a node that another rank has sent.
  float* received(const Node& node, size_t section);

  const ParameterSlices& slices_;
  distributed::Communicator& ranks_;
  GradientTree& own_;
  std::vector<Node> nodes_;  // in the order of their shards
  std::vector<Addition> additions_;
  std::vector<float> received_;  // the slices of the other ranks' nodes, one node after the other
  std::thread thread_;
  std::exception_ptr error_;  // of the thread
};

}  // namespace heed::train
