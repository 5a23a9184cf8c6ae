#include "text/pipeline/segmentation/unigram_lattice.h"

#include <algorithm>
#include <cfloat>
#include <queue>
#include <utility>

#include "base/stop.h"

namespace heed {
namespace {

/// The n best segmentations by A*, from the end of the text to its beginning. What is left to the beginning
/// is estimated exactly, by the best segmentation that ends with a piece.
class NbestSearch {
 public:
  explicit NbestSearch(const UnigramLattice& lattice) : lattice_(lattice) {
    add({lattice.end(), kNone, 0}, lattice.node(lattice.end()).best_until);
  }

  std::vector<ScoredSegments> run(size_t n) {
    std::vector<ScoredSegments> found;
    while (!agenda_.empty() && found.size() < n) {
      const Candidate top = agenda_.top();
      agenda_.pop();
      if (hypotheses_[top.hypothesis].node == UnigramLattice::kBeginning) {
        found.push_back(segments_of(top));
        continue;
      }
      expand(top.hypothesis);
      constexpr size_t kMaxAgenda = 10000, kMinAgenda = 512;
      if (agenda_.size() >= kMaxAgenda) shrink(std::min(kMinAgenda, n * 10));
    }
    return found;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  /// The segments of the text from a node to the end.
  struct Hypothesis {
    uint32_t node = 0;
    uint32_t next = kNone;  // the hypothesis without this node
    float score = 0;
  };
  struct Candidate {
    float total = 0;  // the score of the best segmentation that ends so
    uint32_t hypothesis = 0;
    bool operator<(const Candidate& other) const { return total < other.total; }
  };
  using Agenda = std::priority_queue<Candidate>;

  void add(const Hypothesis& hypothesis, float total) {
    agenda_.push({total, static_cast<uint32_t>(hypotheses_.size())});
    hypotheses_.push_back(hypothesis);
  }

  void expand(uint32_t hypothesis) {
    StopScope::check();
    const float behind = hypotheses_[hypothesis].score;
    for (const uint32_t before : lattice_.ending_at(lattice_.node(hypotheses_[hypothesis].node).begin)) {
      const LatticeNode& node = lattice_.node(before);
      add({before, hypothesis, node.score + behind}, node.best_until + behind);
    }
  }

  ScoredSegments segments_of(const Candidate& candidate) const {
    ScoredSegments result;
    result.score = candidate.total;
    for (uint32_t at = hypotheses_[candidate.hypothesis].next; hypotheses_[at].next != kNone;
         at = hypotheses_[at].next) {
      result.tokens.push_back(lattice_.node(hypotheses_[at].node).token);
    }
    return result;
  }

  /// Keeps the best `size` hypotheses, and frees the memory of the others.
  void shrink(size_t size) {
    std::vector<Hypothesis> kept;
    std::vector<uint32_t> moved_to(hypotheses_.size(), kNone);
    Agenda agenda;
    for (size_t n = 0; n < size; ++n) {
      agenda.push({agenda_.top().total, keep(agenda_.top().hypothesis, kept, moved_to)});
      agenda_.pop();
    }
    hypotheses_ = std::move(kept);
    agenda_ = std::move(agenda);
  }

  /// Copies a hypothesis with those behind it; returns its new index.
  uint32_t keep(uint32_t hypothesis, std::vector<Hypothesis>& kept, std::vector<uint32_t>& moved_to) const {
    std::vector<uint32_t> chain;
    uint32_t at = hypothesis;
    for (; at != kNone && moved_to[at] == kNone; at = hypotheses_[at].next) chain.push_back(at);
    uint32_t next = at == kNone ? kNone : moved_to[at];
    for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
      moved_to[*link] = static_cast<uint32_t>(kept.size());
      kept.push_back({hypotheses_[*link].node, next, hypotheses_[*link].score});
      next = moved_to[*link];
    }
    return next;
  }

  const UnigramLattice& lattice_;
  std::vector<Hypothesis> hypotheses_;
  Agenda agenda_;
};

}  // namespace

void UnigramLattice::add(LatticeNode node, size_t end_position) {
  node.best_until = best_before(node) + node.score;
  ending_at_[end_position].push_back(static_cast<uint32_t>(nodes_.size()));
  nodes_.push_back(node);
}

void UnigramLattice::finish() {
  LatticeNode node;
  node.begin = ending_at_.size() - 1;
  node.best_until = best_before(node);
  end_ = static_cast<uint32_t>(nodes_.size());
  nodes_.push_back(node);
}

float UnigramLattice::best_before(const LatticeNode& node) const {
  float best = -FLT_MAX;
  for (const uint32_t before : ending_at_[node.begin]) best = std::max(best, nodes_[before].best_until);
  return best;
}

std::vector<ScoredSegments> UnigramLattice::best(size_t n) const {
  return NbestSearch(*this).run(n);
}

}  // namespace heed
