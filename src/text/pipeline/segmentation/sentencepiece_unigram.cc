// SentencePiece's unigram model. Its sums of log-probabilities are in single precision, which decides between
// segmentations that are almost equally probable.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"
#include "text/pipeline/segmentation/sentencepiece_vocabulary.h"
#include "text/pipeline/segmentation/unigram_lattice.h"
#include "text/pipeline/segmentation/viterbi.h"

namespace heed {
namespace {

/// Draws an index with probability proportional to exp(alpha * score).
size_t draw_index(const std::vector<ScoredSegments>& candidates, double alpha, Random& random) {
  const double best = std::ranges::max_element(candidates, {}, &ScoredSegments::score)->score;
  std::vector<double> weights;
  double sum = 0;
  for (const ScoredSegments& each : candidates)
    sum += weights.emplace_back(std::exp(alpha * (static_cast<double>(each.score) - best)));
  double rest = random.uniform() * sum;
  for (size_t n = 0; n + 1 < weights.size(); ++n) {
    if (rest < weights[n]) return n;
    rest -= weights[n];
  }
  return weights.size() - 1;
}

void check_sampling(const SubwordSampling& sampling) {
  constexpr int kMaxNbest = 1024;
  if (sampling.nbest < 0 || sampling.nbest > kMaxNbest) {
    fail(ErrorKind::kUsage,
         "subword regularization samples from the 1 to {} best segmentations, or from all (0), not from {}",
         kMaxNbest, sampling.nbest);
  }
  if (!(sampling.alpha >= 0) || !std::isfinite(sampling.alpha)) {
    fail(ErrorKind::kUsage, "the alpha of subword regularization must be at least 0, not {}", sampling.alpha);
  }
}

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

  std::vector<ModelToken> draw(std::string_view text, double alpha, Random& random) const override {
    const std::vector<SampledPrefix> prefixes = filter(text, alpha);
    std::vector<ModelToken> tokens;
    if (prefixes.back().edges.empty()) return tokens;
    for (auto end = static_cast<uint32_t>(text.size()); end > 0; end = tokens.back().begin) {
      const SampledPrefix& prefix = prefixes[end];
      double rest = random.uniform();
      const SampledEdge* drawn = &prefix.edges.back();  // the default in case of rounding errors
      for (const SampledEdge& edge : prefix.edges) {
        rest -= std::exp(edge.weight - prefix.total);
        if (rest < 0) {
          drawn = &edge;
          break;
        }
      }
      tokens.push_back({drawn->id, drawn->begin, end});
    }
    std::ranges::reverse(tokens);
    return tokens;
  }

  std::vector<ScoredSegments> best(std::string_view text, size_t n) const override {
    std::vector<ScoredSegments> found(1);
    if (n > 1) {
      found = lattice_of(text).best(n);
      for (ScoredSegments& each : found) vocabulary_->resolve_unknown(text, 0, each.tokens);
    } else {
      tokenize(text, found[0].tokens);
    }
    return found;
  }

  std::optional<std::vector<std::vector<ModelToken>>> sample(std::string_view text,
                                                             const SubwordSampling& sampling,
                                                             Random& random) const override {
    check_sampling(sampling);
    std::vector<std::vector<ModelToken>> drawn(static_cast<size_t>(sampling.draws));
    if (text.empty()) {
      if (sampling.nbest > 0) std::ranges::for_each(drawn, [&](const auto&) { random.uniform(); });
      return drawn;
    }
    if (sampling.nbest == 0) {
      std::vector<ModelToken> best_tokens;
      tokenize(text, best_tokens);
      for (auto& tokens : drawn) tokens = resegment(text, best_tokens, sampling.alpha, random);
      return drawn;
    }
    const std::vector<ScoredSegments> candidates = best(text, static_cast<size_t>(sampling.nbest));
    for (auto& tokens : drawn) tokens = candidates[draw_index(candidates, sampling.alpha, random)].tokens;
    return drawn;
  }

 private:
  bool is_normal(const ModelToken& token) const {
    return (*vocabulary_)[token.id].type == SentencePieceType::kNormal;
  }

  /// Draws another segmentation of each run of normal pieces.
  std::vector<ModelToken> resegment(std::string_view text, const std::vector<ModelToken>& tokens,
                                    double alpha, Random& random) const {
    std::vector<ModelToken> drawn;
    for (auto token = tokens.begin(); token != tokens.end();) {
      if (!is_normal(*token)) {
        drawn.push_back(*token++);
        continue;
      }
      const uint32_t begin = token->begin;
      std::vector<const ModelToken*> owners;  // the token of each byte
      for (; token != tokens.end() && is_normal(*token); ++token) owners.resize(token->end - begin, &*token);
      for (const ModelToken& each : draw(text.substr(begin, owners.size()), alpha, random)) {
        drawn.push_back({each.id, owners[each.begin]->begin, owners[each.end - 1]->end});
      }
    }
    return drawn;
  }

  /// A last piece of a prefix of the text. `weight`: the log of the total weight of the segmentations of the
  /// prefix that end with it.
  struct SampledEdge {
    int32_t id = 0;
    uint32_t begin = 0;
    double weight = 0;
  };
  struct SampledPrefix {
    double total = -std::numeric_limits<double>::infinity();  // log of the weight of all segmentations
    std::vector<SampledEdge> edges;
  };
  static double add_logs(double a, double b) {
    if (a < b) std::swap(a, b);
    return b == -std::numeric_limits<double>::infinity() ? a : a + std::log1p(std::exp(b - a));
  }

  /// Forward filtering over the prefixes of the text.
  std::vector<SampledPrefix> filter(std::string_view text, double alpha) const {
    std::vector<SampledPrefix> prefixes(text.size() + 1);
    prefixes[0].total = 0;
    for (size_t begin = 0; begin < text.size(); ++begin) {
      if (begin > 0 && prefixes[begin].edges.empty()) continue;
      int32_t at = ByteTrie::kRoot;
      for (size_t end = begin; end < text.size();) {
        at = viterbi_.trie().child(at, text[end++]);
        if (at < 0) break;
        const int32_t id = viterbi_.trie().value(at);
        if (id < 0 || (*vocabulary_)[id].type != SentencePieceType::kNormal) continue;
        const double weight = prefixes[begin].total + alpha * static_cast<double>((*vocabulary_)[id].score);
        prefixes[end].total = add_logs(prefixes[end].total, weight);
        prefixes[end].edges.push_back({id, static_cast<uint32_t>(begin), weight});
      }
    }
    return prefixes;
  }

  /// User-defined symbols count so much that they are always chosen.
  double score_of(int32_t id, size_t length) const {
    const SentencePieceEntry& piece = (*vocabulary_)[id];
    if (piece.type != SentencePieceType::kSymbol) return piece.score;
    return static_cast<float>(length) * greatest_ - 0.1;
  }

  UnigramLattice lattice_of(std::string_view text) const {
    std::vector<uint32_t> position(text.size() + 1);  // of the character that begins at a byte
    uint32_t characters = 0;
    for (size_t at = 0; at < text.size(); at += length_of_character(text[at])) position[at] = characters++;
    position[text.size()] = characters;
    UnigramLattice lattice(characters);
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
