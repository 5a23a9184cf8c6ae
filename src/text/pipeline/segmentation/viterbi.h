// The most probable segmentation under a unigram language model (Kudo, "Subword regularization", 2018), by
// the algorithm of Viterbi.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "text/pipeline/aligned_text.h"
#include "text/pipeline/segmentation/byte_trie.h"

namespace heed {

/// A part of a text; `id` -1: a character that no piece has.
struct TextSegment {
  int32_t id = -1;
  uint32_t begin = 0, end = 0;
};

/// `Real` is the type that log-probabilities are accumulated in.
template <typename Real>
class Viterbi {
 public:
  Viterbi() = default;
  /// `scores` by id. `unknown_score` is that of a character that is no piece.
  Viterbi(std::vector<ByteTrie::Entry> pieces, std::vector<double> scores, Real unknown_score)
      : trie_(std::move(pieces)), scores_(std::move(scores)), unknown_score_(unknown_score) {}

  const ByteTrie& trie() const { return trie_; }

  /// Calls add(segment) from the last segment to the first. Of equally probable segmentations, pieces that
  /// begin earlier count, then shorter ones.
  template <typename Add>
  void segment(std::string_view text, const Add& add) const {
    static thread_local std::vector<Node> nodes;
    nodes.assign(text.size() + 1, {});
    for (size_t begin = 0; begin < text.size(); begin += length_of_character(text[begin])) {
      extend(text, begin, nodes);
    }
    for (auto end = static_cast<uint32_t>(text.size()); end > 0; end = nodes[end].begin) {
      add(TextSegment{nodes[end].id, nodes[end].begin, end});
    }
  }

 private:
  static constexpr uint32_t kNotReached = std::numeric_limits<uint32_t>::max();
  /// The end of a prefix of the text, and the last segment of the best segmentation of the prefix.
  struct Node {
    Real score = 0;
    int32_t id = -1;
    uint32_t begin = kNotReached;
  };

  void extend(std::string_view text, size_t begin, std::vector<Node>& nodes) const {
    const Real score = nodes[begin].score;
    const size_t character = begin + length_of_character(text[begin]);
    bool single = false;  // whether the character is a piece
    const auto reach = [&](size_t end, auto total, int32_t id) {
      Node& node = nodes[end];
      if (node.begin != kNotReached && total <= node.score) return;
      node = {static_cast<Real>(total), id, static_cast<uint32_t>(begin)};
    };
    int32_t at = ByteTrie::kRoot;
    for (size_t end = begin; end < text.size();) {
      at = trie_.child(at, text[end++]);
      if (at < 0) break;
      const int32_t id = trie_.value(at);
      if (id < 0) continue;
      reach(end, scores_[static_cast<size_t>(id)] + score, id);
      single |= end == character;
    }
    if (!single) reach(character, static_cast<Real>(unknown_score_ + score), -1);
  }

  ByteTrie trie_;
  std::vector<double> scores_;
  Real unknown_score_ = 0;
};

}  // namespace heed
