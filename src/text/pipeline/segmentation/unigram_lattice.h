// All pieces of a text under a unigram model, and the best segmentations of the text.
#pragma once

#include <cstdint>
#include <vector>

#include "text/pipeline/segmentation/token_model.h"

namespace heed {

/// A piece at one position of a text.
struct LatticeNode {
  ModelToken token = {};
  size_t begin = 0;  // the position of its first character
  float score = 0;
  float best_until = 0;  // of the best segmentation that ends with this piece
};

/// A segmentation with the sum of its log-probabilities.
struct ScoredSegments {
  std::vector<ModelToken> tokens;
  float score = 0;
};

/// Sums are in single precision, from the beginning of the text to its end.
class UnigramLattice {
 public:
  explicit UnigramLattice(size_t characters) : nodes_(1), ending_at_(characters + 1) {
    ending_at_[0].push_back(kBeginning);
  }
  /// Nodes are added in order of their first characters; `best_until` is set here.
  void add(LatticeNode node, size_t end_position);
  /// After the last node.
  void finish();

  /// The n best segmentations, the best one first.
  std::vector<ScoredSegments> best(size_t n) const;

  static constexpr uint32_t kBeginning = 0;  // nodes for the beginning and the end of the text
  uint32_t end() const { return end_; }
  const LatticeNode& node(uint32_t n) const { return nodes_[n]; }
  const std::vector<uint32_t>& ending_at(size_t position) const { return ending_at_[position]; }

 private:
  float best_before(const LatticeNode& node) const;

  std::vector<LatticeNode> nodes_;
  std::vector<std::vector<uint32_t>> ending_at_;  // nodes by the position behind them
  uint32_t end_ = 0;
};

}  // namespace heed
