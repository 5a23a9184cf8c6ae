// The most probable segmentation under a unigram language model (Kudo, "Subword regularization", 2018), by
// the algorithm of Viterbi. An unknown character counts ten less than the least probable piece.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "text/pipeline/aligned_text.h"
#include "text/pipeline/byte_trie.h"
#include "text/pipeline/token_model.h"

namespace heed {
namespace {

class Unigram : public TokenModel {
 public:
  Unigram(const std::string& name, const std::vector<std::pair<std::string, double>>& pieces,
          const UnigramOptions& options)
      : options_(options), name_(name) {
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [piece, score] : pieces) {
      if (!piece.empty()) trie_.insert(piece, static_cast<int32_t>(scores_.size()));
      scores_.push_back(score);
      least = std::min(least, score);
    }
    constexpr double kPenalty = 10;
    unknown_score_ = least - kPenalty;
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    static thread_local std::vector<Node> nodes;
    nodes.assign(piece.size() + 1, {});
    for (size_t begin = 0; begin < piece.size(); begin += length_of_character(piece[begin])) {
      extend(piece, begin, nodes);
    }
    const size_t first = tokens.size();
    for (size_t end = piece.size(); end > 0;) {
      const Node& node = nodes[end];
      const bool unknown = node.id < 0 || node.id == options_.unknown;
      const auto begin = static_cast<uint32_t>(node.begin);
      if (unknown && tokens.size() > first && tokens.back().unknown) {
        tokens.back().begin = begin;  // adjacent unknown characters are one token
      } else {
        tokens.push_back({node.id, begin, static_cast<uint32_t>(end), unknown});
      }
      end = node.begin;
    }
    std::reverse(tokens.begin() + static_cast<ptrdiff_t>(first), tokens.end());
    const auto is_unknown = [](const ModelToken& token) { return token.unknown; };
    if (std::any_of(tokens.begin() + static_cast<ptrdiff_t>(first), tokens.end(), is_unknown)) {
      resolve_unknown(piece, first, tokens);
    }
  }

 private:
  /// The end of a prefix of the piece, and the last token of its best segmentation.
  struct Node {
    double score = 0;
    int32_t id = -1;  // -1: an unknown character
    uint32_t begin = 0;
    bool reached = false;
  };

  void extend(std::string_view piece, size_t begin, std::vector<Node>& nodes) const {
    const double score = nodes[begin].score;
    const size_t character = begin + length_of_character(piece[begin]);
    bool single = false;  // whether the character is a piece
    const auto reach = [&](size_t end, double total, int32_t id) {
      Node& node = nodes[end];
      if (node.reached && total <= node.score) return;
      node = {total, id, static_cast<uint32_t>(begin), true};
    };
    int32_t at = ByteTrie::kRoot;
    for (size_t end = begin; end < piece.size();) {
      at = trie_.child(at, piece[end++]);
      if (at < 0) break;
      const int32_t id = trie_.value(at);
      if (id < 0) continue;
      reach(end, scores_[static_cast<size_t>(id)] + score, id);
      single |= end == character;
    }
    if (!single) reach(character, unknown_score_ + score, -1);
  }

  /// Replaces the unknown tokens behind the first `first` tokens by what they stand for.
  void resolve_unknown(std::string_view piece, size_t first, std::vector<ModelToken>& tokens) const {
    const std::vector<ModelToken> found(tokens.begin() + static_cast<ptrdiff_t>(first), tokens.end());
    tokens.resize(first);
    for (ModelToken token : found) {
      const std::string_view text = piece.substr(token.begin, token.end - token.begin);
      const ByteTrie::Found whole = token.unknown ? trie_.longest(text) : ByteTrie::Found{};
      if (!token.unknown) {
        tokens.push_back(token);
      } else if (whole.length == text.size()) {
        tokens.push_back({whole.value, token.begin, token.end});
      } else if (!add_bytes(text, token, tokens)) {
        if (!options_.unknown) {
          fail(ErrorKind::kText, "{}: '{}' cannot be tokenized, since the model has no unknown token", name_,
               text);
        }
        tokens.push_back({*options_.unknown, token.begin, token.end, /*unknown=*/true});
      }
    }
  }

  bool add_bytes(std::string_view text, const ModelToken& token, std::vector<ModelToken>& tokens) const {
    const size_t before = tokens.size();
    for (const char byte : text) {
      const std::string piece = fmt::format("<0x{:02X}>", static_cast<unsigned char>(byte));
      const ByteTrie::Found found = options_.byte_fallback ? trie_.longest(piece) : ByteTrie::Found{};
      if (found.length != piece.size()) {
        tokens.resize(before);
        return false;
      }
      tokens.push_back({found.value, token.begin, token.end});
    }
    return true;
  }

  UnigramOptions options_;
  ByteTrie trie_;
  std::string name_;
  std::vector<double> scores_;
  double unknown_score_ = 0;
};

}  // namespace

std::unique_ptr<TokenModel> unigram_model(const std::string& name,
                                          const std::vector<std::pair<std::string, double>>& pieces,
                                          const UnigramOptions& options) {
  return std::make_unique<Unigram>(name, pieces, options);
}

}  // namespace heed
