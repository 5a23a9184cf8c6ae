// The unigram model of Hugging Face's tokenizers. An unknown character counts ten less than the least
// probable piece.
#include <algorithm>
#include <limits>

#include "base/check.h"
#include "text/pipeline/segmentation/token_model.h"
#include "text/pipeline/segmentation/viterbi.h"

namespace heed {
namespace {

class Unigram : public TokenModel {
 public:
  Unigram(const std::string& name, const std::vector<std::pair<std::string, double>>& pieces,
          const UnigramOptions& options)
      : options_(options), name_(name) {
    double least = std::numeric_limits<double>::infinity();
    std::vector<ByteTrie::Entry> entries;
    std::vector<double> scores;
    for (const auto& [piece, score] : pieces) {
      if (!piece.empty()) entries.push_back({piece, static_cast<int32_t>(scores.size())});
      scores.push_back(score);
      least = std::min(least, score);
    }
    constexpr double kPenalty = 10;
    viterbi_ = Viterbi<double>(std::move(entries), std::move(scores), least - kPenalty);
  }

  void tokenize(std::string_view piece, std::vector<ModelToken>& tokens) const override {
    const size_t first = tokens.size();
    bool any_unknown = false;
    viterbi_.segment(piece, [&](const TextSegment& segment) {
      const bool unknown = segment.id < 0 || segment.id == options_.unknown;
      any_unknown |= unknown;
      if (unknown && tokens.size() > first && tokens.back().unknown) {
        tokens.back().begin = segment.begin;  // adjacent unknown characters are one token
      } else {
        tokens.push_back({segment.id, segment.begin, segment.end, unknown});
      }
    });
    std::reverse(tokens.begin() + static_cast<ptrdiff_t>(first), tokens.end());
    if (any_unknown) resolve_unknown(piece, first, tokens);
  }

 private:
  /// Replaces the unknown tokens behind the first `first` tokens by what they stand for.
  void resolve_unknown(std::string_view piece, size_t first, std::vector<ModelToken>& tokens) const {
    const std::vector<ModelToken> found(tokens.begin() + static_cast<ptrdiff_t>(first), tokens.end());
    tokens.resize(first);
    for (ModelToken token : found) {
      const std::string_view text = piece.substr(token.begin, token.end - token.begin);
      const ByteTrie::Found whole = token.unknown ? viterbi_.trie().longest(text) : ByteTrie::Found{};
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
      const ByteTrie::Found found =
          options_.byte_fallback ? viterbi_.trie().longest(piece) : ByteTrie::Found{};
      if (found.length != piece.size()) {
        tokens.resize(before);
        return false;
      }
      tokens.push_back({found.value, token.begin, token.end});
    }
    return true;
  }

  UnigramOptions options_;
  Viterbi<double> viterbi_;
  std::string name_;
};

}  // namespace

std::unique_ptr<TokenModel> unigram_model(const std::string& name,
                                          const std::vector<std::pair<std::string, double>>& pieces,
                                          const UnigramOptions& options) {
  return std::make_unique<Unigram>(name, pieces, options);
}

}  // namespace heed
