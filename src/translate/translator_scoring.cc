// Translator::score()

#include <algorithm>
#include <numeric>
#include <span>

#include "base/check.h"
#include "base/stop.h"
#include "search/scoring.h"
#include "translate/translator.h"

namespace heed::translate {
namespace {

/// Approximate number of target tokens per batch, whose logits are held in memory on each thread.
constexpr size_t kScoredTokens = 256;

}  // namespace

search::ScoringPair Translator::encode_pair(const std::pair<std::string, std::string>& pair,
                                            size_t number) const {
  tokenizer_.require_language_code(pair.first);
  search::ScoringPair encoded{tokenizer_.encode_source(pair.first).ids,
                              tokenizer_.encode_target(pair.second).ids, placeholders_};
  const auto most = static_cast<size_t>(model_.max_length());
  const size_t longer = std::max(encoded.source.size(), encoded.target.size());
  if (most > 0 && longer > most) {
    fail(ErrorKind::kUsage, "pair {} has a sentence of {} tokens, but the model's maximum is {}: split it",
         number + 1, longer, most);
  }
  return encoded;
}

std::vector<TargetScore> Translator::score(const std::vector<std::pair<std::string, std::string>>& pairs,
                                           const Stop& stop) const {
  std::vector<search::ScoringPair> encoded(pairs.size());
  pool_.run(pairs.size(), [&](size_t n) {
    stop.check();
    encoded[n] = encode_pair(pairs[n], n);
  });
  std::vector<size_t> groups{0};  // begin of each group, and the end of the last
  for (size_t n = 0, tokens = 0; n < encoded.size(); ++n) {
    if (n > groups.back() && tokens + encoded[n].target.size() > kScoredTokens) {
      groups.push_back(n);
      tokens = 0;
    }
    tokens += encoded[n].target.size();
  }
  if (!encoded.empty()) groups.push_back(encoded.size());

  std::vector<TargetScore> scores(pairs.size());
  pool_.run(groups.size() - 1, [&](size_t group) {
    stop.check();
    const std::span members = std::span(encoded).subspan(groups[group], groups[group + 1] - groups[group]);
    auto found = search::score_pairs(model_, context_, options_.search, members);
    for (size_t n = 0; n < found.size(); ++n) {
      TargetScore& score = scores[groups[group] + n];
      score.ids = members[n].target;
      score.pieces = pieces_of(tokenizer_.vocabulary(), score.ids);
      score.log_probability = std::accumulate(found[n].begin(), found[n].end(), 0.0);
      score.log_probabilities = std::move(found[n]);
    }
  });
  return scores;
}

}  // namespace heed::translate
