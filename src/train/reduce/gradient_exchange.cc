#include "train/reduce/gradient_exchange.h"

#include <algorithm>
#include <utility>

#include "base/blocked_signals.h"
#include "kernels/pointwise/elementwise.h"

namespace heed::train {
namespace {

using distributed::Incoming;
using distributed::Outgoing;

/// Elements that are added up by one thread while they are in its cache.
constexpr int64_t kChunkElements = 1 << 13;

size_t bytes_of(const Range& elements) {
  return static_cast<size_t>(elements.size()) * sizeof(float);
}

/// The sum of these nodes of `elements` each, in the order of `additions`, in the first node.
void add_nodes(ThreadPool& pool, const std::vector<float*>& nodes, const std::vector<Addition>& additions,
               int64_t elements) {
  const int64_t chunks = (elements + kChunkElements - 1) / kChunkElements;
  pool.run(static_cast<size_t>(chunks), [&](size_t chunk) {
    const int64_t begin = static_cast<int64_t>(chunk) * kChunkElements;
    for (const Addition& each : additions) {
      add_scaled({.size = std::min(kChunkElements, elements - begin),
                  .factor = 1.0f,
                  .x = nodes[each.from] + begin,
                  .y = nodes[each.to] + begin});
    }
  });
}

}  // namespace

void RankGradientExchange::begin(const ReductionTree& tree) {
  const distributed::Slices shards(static_cast<int64_t>(tree.shards()), ranks_.size());
  nodes_.clear();
  std::vector<TreeNode> all;
  size_t own = 0, others = 0;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    for (const TreeNode& node : tree.nodes_of(shards.of(rank))) {
      nodes_.push_back({rank, node, rank == ranks_.rank() ? own++ : others++});
      all.push_back(node);
    }
  }
  additions_ = tree.additions(all);
  received_.resize(others * static_cast<size_t>(slices_.own_size()));
  error_ = nullptr;
  const BlockedSignals blocked;
  thread_ = std::thread([this] {
    try {
      // The backward pass ends with the parameters that the forward pass begins with, which come first.
      for (size_t section = slices_.sections(); section-- > 0 && own_.wait_for(section);) exchange(section);
    } catch (...) {
      error_ = std::current_exception();
    }
  });
}

void RankGradientExchange::finish() {
  if (!thread_.joinable()) return;
  thread_.join();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void RankGradientExchange::cancel() {
  if (!thread_.joinable()) return;
  own_.cancel();
  thread_.join();
}

float* RankGradientExchange::received(const Node& node, size_t section) {
  const int64_t offset = static_cast<int64_t>(node.number) * slices_.own_size() + slices_.own_offset(section);
  return received_.data() + offset;
}

void RankGradientExchange::exchange(size_t section) {
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  for (const Node& each : nodes_) {
    if (each.rank != ranks_.rank()) {
      incoming.push_back({each.rank, received(each, section), bytes_of(slices_.own(section))});
      continue;
    }
    const float* const sum = own_.sum(each.node).flat().data<float>();
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const Range slice = slices_.of(section, rank);
      if (rank != ranks_.rank()) outgoing.push_back({rank, sum + slice.begin, bytes_of(slice)});
    }
  }
  ranks_.exchange(outgoing, incoming);
}

void RankGradientExchange::add_up(ThreadPool& pool, std::vector<nn::ParameterArray>& sums) {
  for (size_t section = 0; section < slices_.sections(); ++section) {
    const Range& slice = slices_.own(section);
    std::vector<float*> nodes;
    for (const Node& each : nodes_) {
      nodes.push_back(each.rank == ranks_.rank() ? sums[each.number].flat().data<float>() + slice.begin
                                                 : received(each, section));
    }
    add_nodes(pool, nodes, additions_, slice.size());
    float* const result = sums[0].flat().data<float>() + slice.begin;
    if (nodes[0] != result) std::copy_n(nodes[0], slice.size(), result);
  }
}

}  // namespace heed::train
