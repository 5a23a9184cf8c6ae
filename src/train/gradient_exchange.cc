#include "train/gradient_exchange.h"

#include <algorithm>

#include "base/check.h"
#include "kernels/pointwise/elementwise.h"
#include "train/parameter_slices.h"

namespace heed::train {
namespace {

using distributed::Incoming;
using distributed::Outgoing;

/// Elements that are added up by one thread while they are in its cache.
constexpr int64_t kChunk = 1 << 13;

/// The sum of these nodes of `elements` each, in the order of `additions`, in the first node.
void add_up(ThreadPool& pool, const std::vector<float*>& nodes, const std::vector<Addition>& additions,
            int64_t elements) {
  const int64_t chunks = (elements + kChunk - 1) / kChunk;
  pool.run(static_cast<size_t>(chunks), [&](size_t chunk) {
    const int64_t begin = static_cast<int64_t>(chunk) * kChunk;
    for (const Addition& each : additions) {
      add_scaled({.size = std::min(kChunk, elements - begin),
                  .factor = 1.0f,
                  .x = nodes[each.from] + begin,
                  .y = nodes[each.to] + begin});
    }
  });
}

}  // namespace

GradientExchange::GradientExchange(const nn::ParameterTable& table, distributed::Communicator& ranks)
    : ranks_(ranks), slices_(parameter_slices(table, ranks)) {}

void GradientExchange::sum(ThreadPool& pool, const ReductionTree& tree, const distributed::Slices& shards,
                           std::vector<nn::ParameterArray>& sums) {
  if (ranks_.size() == 1) return;
  const Range own = slices_.of(ranks_.rank());
  std::vector<TreeNode> nodes;
  std::vector<int> holders;  // the rank of each node
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    for (const TreeNode& node : tree.nodes_of(shards.of(rank))) {
      nodes.push_back(node);
      holders.push_back(rank);
    }
  }
  received_.resize((nodes.size() - sums.size()) * static_cast<size_t>(own.size()));

  std::vector<float*> places;  // of the own slice of each node
  std::vector<Incoming> incoming;
  float* free = received_.data();
  size_t own_nodes = 0;
  for (const int rank : holders) {
    if (rank == ranks_.rank()) {
      places.push_back(sums[own_nodes++].flat().data<float>() + own.begin);
      continue;
    }
    places.push_back(free);
    free += own.size();
    incoming.push_back({rank, places.back(), static_cast<size_t>(own.size()) * sizeof(float)});
  }
  std::vector<Outgoing> outgoing;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const Range slice = slices_.of(rank);
    if (rank == ranks_.rank()) continue;
    for (const nn::ParameterArray& each : sums) {
      outgoing.push_back(
          {rank, each.flat().data<float>() + slice.begin, static_cast<size_t>(slice.size()) * sizeof(float)});
    }
  }
  ranks_.exchange(outgoing, incoming);

  add_up(pool, places, tree.additions(nodes), own.size());
  float* const result = sums[0].flat().data<float>() + own.begin;
  if (places[0] != result) std::copy_n(places[0], own.size(), result);
}

}  // namespace heed::train
