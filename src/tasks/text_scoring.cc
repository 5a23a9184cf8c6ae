#include "tasks/text_scoring.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "base/check.h"
#include "base/text/option_error.h"
#include "models/finite_output.h"
#include "search/scoring.h"

namespace heed::tasks {

void fail_nothing_to_score() {
  fail(ErrorKind::kUsage, "the texts contain no tokens to score");
}

std::vector<float> score_ids(const models::LanguageModel& model, const nn::Context& context,
                             const std::vector<int32_t>& ids, const TextScoringOptions& options) {
  HEED_CHECK(ids.size() >= 2);
  constexpr int64_t kWithoutPositions = 1024;
  const int64_t positions = model.max_length() > 0 ? model.max_length() : kWithoutPositions;
  const int64_t stride = options.stride > 0 ? options.stride : std::max<int64_t>(positions / 2, 1);
  if (stride > positions) {
    fail_option("$stride is {}, which would skip tokens: it must not exceed the model's maximum length of {}",
                stride, positions);
  }
  std::vector<float> scores;
  const auto last = static_cast<int64_t>(ids.size()) - 1;  // the last id that is read
  for (int64_t begin = 0; static_cast<int64_t>(scores.size()) < last; begin += stride) {
    const int64_t end = std::min(begin + positions, last);
    const auto window =
        std::span(ids).subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin) + 1);
    search::visit_predictions(model, context, window,
                              {.first = scores.size() - static_cast<size_t>(begin) + 1},
                              [&](const search::Prediction& next) {
                                const int32_t id = window[next.index];
                                scores.push_back(next.logits[static_cast<size_t>(id)] - next.log_sum);
                                if (!std::isfinite(scores.back())) models::fail_not_finite();
                              });
  }
  return scores;
}

TextScore score_text(const models::LanguageModel& model, const nn::Context& context,
                     const ModelTokenizer& tokenizer, const std::string& text,
                     const TextScoringOptions& options) {
  TextScore score;
  std::vector<int32_t> ids = tokenizer.ids(text);
  score.first_scored = tokenizer.starts_every_text();
  if (score.first_scored) ids.insert(ids.begin(), *tokenizer.start_id());
  if (ids.size() < 2) return score;
  // Not the end of the first token's span: of tokens that share a character, all bytes would be those of one.
  const size_t given = score.first_scored ? 0 : tokenizer.text_of({ids.data(), 1}).size();
  score.bytes = text.size() - std::min(given, text.size());
  score.log_probabilities = score_ids(model, context, ids, options);
  score.log_probability =
      std::accumulate(score.log_probabilities.begin(), score.log_probabilities.end(), 0.0);
  score.ids.assign(ids.begin() + 1, ids.end());
  for (const int32_t id : score.ids) score.pieces.push_back(tokenizer.piece(id));
  return score;
}

}  // namespace heed::tasks
