// SentencePiece's unigram model. Its sums of log-probabilities are in single precision, which decides between
// segmentations that are almost equally probable.
#include <algorithm>
#include <cfloat>
#include <queue>
#include <utility>

#include "text/pipeline/sentencepiece_vocabulary.h"
#include "text/pipeline/tokenizing_stop.h"
#include "text/pipeline/viterbi.h"

namespace heed {
namespace {

/// A piece at one position of a text.
struct LatticeNode {
  ModelToken token = {};
  size_t begin = 0;  // the position of its first character
  float score = 0;
  float best_until = 0;  // of the best segmentation that ends with this piece
};

/// All pieces of a text, and nodes for its beginning and its end.
struct Lattice {
  std::vector<LatticeNode> nodes;
  std::vector<std::vector<uint32_t>> ending_at;  // nodes by the position behind them
  static constexpr uint32_t kBeginning = 0;
  uint32_t end = 0;  // the last node

  explicit Lattice(size_t characters) : nodes(1), ending_at(characters + 1) {
    ending_at[0].push_back(kBeginning);
  }
  /// Nodes are added in order of their first characters.
  void add(LatticeNode node, size_t end_position) {
    node.best_until = best_before(node) + node.score;
    ending_at[end_position].push_back(static_cast<uint32_t>(nodes.size()));
    nodes.push_back(node);
  }
  void finish() {
    LatticeNode node;
    node.begin = ending_at.size() - 1;
    node.best_until = best_before(node);
    end = static_cast<uint32_t>(nodes.size());
    nodes.push_back(node);
  }

 private:
  float best_before(const LatticeNode& node) const {
    float best = -FLT_MAX;
    for (const uint32_t before : ending_at[node.begin]) best = std::max(best, nodes[before].best_until);
    return best;
  }
};

/// The n best segmentations by A*, from the end of the text to its beginning. What is left to the beginning
/// is estimated exactly, by the best segmentation that ends with a piece.
class NbestSearch {
 public:
  explicit NbestSearch(const Lattice& lattice) : lattice_(lattice) {
    add({lattice.end, kNone, 0}, lattice.nodes[lattice.end].best_until);
  }

  std::vector<ScoredSegments> run(size_t n) {
    std::vector<ScoredSegments> found;
    while (!agenda_.empty() && found.size() < n) {
      const Candidate top = agenda_.top();
      agenda_.pop();
      if (hypotheses_[top.hypothesis].node == Lattice::kBeginning) {
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
    TokenizingStop::check();
    const float behind = hypotheses_[hypothesis].score;
    for (const uint32_t before : lattice_.ending_at[lattice_.nodes[hypotheses_[hypothesis].node].begin]) {
      const LatticeNode& node = lattice_.nodes[before];
      add({before, hypothesis, node.score + behind}, node.best_until + behind);
    }
  }

  ScoredSegments segments_of(const Candidate& candidate) const {
    ScoredSegments result;
    result.score = candidate.total;
    for (uint32_t at = hypotheses_[candidate.hypothesis].next; hypotheses_[at].next != kNone;
         at = hypotheses_[at].next) {
      result.tokens.push_back(lattice_.nodes[hypotheses_[at].node].token);
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

  const Lattice& lattice_;
  std::vector<Hypothesis> hypotheses_;
  Agenda agenda_;
};

class LatticeUnigram : public SentencePieceUnigram {
 public:
  explicit LatticeUnigram(std::shared_ptr<const SentencePieceVocabulary> vocabulary)
      : vocabulary_(std::move(vocabulary)) {
    float least = FLT_MAX;
    std::vector<ByteTrie::Entry> entries;
    for (int32_t id = 0; id < vocabulary_->size(); ++id) {
      const auto& [text, score, type] = (*vocabulary_)[id];
      if (type == SentencePieceType::kNormal) {
        least = std::min(least, score);
        greatest_ = std::max(greatest_, score);
      }
      if (type == SentencePieceType::kNormal || type == SentencePieceType::kSymbol)
        entries.push_back({text, id});
    }
    std::vector<double> scores;
    for (int32_t id = 0; id < vocabulary_->size(); ++id)
      scores.push_back(score_of(id, (*vocabulary_)[id].text.size()));
    constexpr float kUnknownPenalty = 10;
    unknown_score_ = least - kUnknownPenalty;
    viterbi_ = Viterbi<float>(std::move(entries), std::move(scores), unknown_score_);
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    const size_t first = tokens.size();
    viterbi_.segment(piece, [&](const TextSegment& segment) {
      tokens.push_back(
          {segment.id < 0 ? vocabulary_->unknown() : segment.id, segment.begin, segment.end, segment.id < 0});
    });
    std::reverse(tokens.begin() + static_cast<ptrdiff_t>(first), tokens.end());
    vocabulary_->resolve_unknown(piece, first, tokens);
  }

  std::vector<ScoredSegments> best(std::string_view text, size_t n) const override {
    std::vector<ScoredSegments> found(1);
    if (n > 1) {
      found = NbestSearch(lattice_of(text)).run(n);
      for (ScoredSegments& each : found) vocabulary_->resolve_unknown(text, 0, each.tokens);
    } else {
      tokenize(text, found[0].tokens);
    }
    return found;
  }

 private:
  /// User-defined symbols count so much that they are always chosen.
  double score_of(int32_t id, size_t length) const {
    const SentencePieceEntry& piece = (*vocabulary_)[id];
    if (piece.type != SentencePieceType::kSymbol) return piece.score;
    return static_cast<float>(length) * greatest_ - 0.1;
  }

  Lattice lattice_of(std::string_view text) const {
    std::vector<uint32_t> position(text.size() + 1);  // of the character that begins at a byte
    uint32_t characters = 0;
    for (size_t at = 0; at < text.size(); at += length_of_character(text[at])) position[at] = characters++;
    position[text.size()] = characters;
    Lattice lattice(characters);
    const auto add = [&](int32_t id, size_t begin, size_t end, double score) {
      const bool unknown = id == vocabulary_->unknown();
      lattice.add({.token = {id, static_cast<uint32_t>(begin), static_cast<uint32_t>(end), unknown},
                   .begin = position[begin],
                   .score = static_cast<float>(score)},
                  position[end]);
    };
    for (size_t begin = 0; begin < text.size(); begin += length_of_character(text[begin])) {
      const size_t character = begin + length_of_character(text[begin]);
      bool single = false;  // whether the character is a piece
      int32_t at = ByteTrie::kRoot;
      for (size_t end = begin; end < text.size();) {
        at = viterbi_.trie().child(at, text[end++]);
        if (at < 0) break;
        const int32_t id = viterbi_.trie().value(at);
        if (id < 0) continue;
        add(id, begin, end, score_of(id, position[end] - position[begin]));
        single |= end == character;
      }
      if (!single) add(vocabulary_->unknown(), begin, character, unknown_score_);
    }
    lattice.finish();
    return lattice;
  }

  std::shared_ptr<const SentencePieceVocabulary> vocabulary_;
  Viterbi<float> viterbi_;
  float greatest_ = FLT_MIN;  // the library's bound
  float unknown_score_ = 0;
};

}  // namespace

std::unique_ptr<SentencePieceUnigram> sentencepiece_unigram_model(
    std::shared_ptr<const SentencePieceVocabulary> vocabulary) {
  return std::make_unique<LatticeUnigram>(std::move(vocabulary));
}

}  // namespace heed
