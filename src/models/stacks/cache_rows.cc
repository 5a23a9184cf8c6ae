#include "models/stacks/cache_rows.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace heed::models {

int32_t CacheRows::take_row(Sentence& sentence) {
  int32_t row = size_;
  if (free_.empty()) {
    ++size_;
  } else {
    row = free_.back();
    free_.pop_back();
  }
  sentence.rows.push_back(row);
  return row;
}

int32_t CacheRows::admit(int32_t prompt_tokens) {
  size_t number = 0;
  while (number < sentences_.size() && sentences_[number].live) ++number;
  if (number == sentences_.size()) sentences_.emplace_back();
  Sentence& sentence = sentences_[number];
  sentence.live = true;
  for (int32_t n = 0; n < prompt_tokens; ++n) sentence.prompt.push_back(take_row(sentence));
  return static_cast<int32_t>(number);
}

void CacheRows::release(int32_t number) {
  Sentence& sentence = sentences_[number];
  HEED_CHECK(sentence.live);
  free_.insert(free_.end(), sentence.rows.begin(), sentence.rows.end());
  sentence = {};
}

void CacheRows::drop_drafts(Sentence& sentence, std::span<const int32_t> path) {
  for (const int32_t row : std::exchange(sentence.drafts, {})) {
    if (std::ranges::count(path, row) > 0) continue;
    std::erase(sentence.rows, row);
    free_.push_back(row);
  }
}

CacheRows::Step CacheRows::step(const std::vector<StepRow>& rows) {
  Step step;
  std::vector<std::vector<int32_t>> paths(rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    Sentence& sentence = sentences_[rows[r].sentence];
    HEED_CHECK(sentence.live);
    std::vector<int32_t>& path = paths[r];
    if (rows[r].draft) {
      HEED_CHECK(r > 0 && rows[r - 1].sentence == rows[r].sentence);
      path = paths[r - 1];
    } else {
      path = rows[r].parent >= 0 ? paths_[rows[r].parent] : sentence.prompt;
      drop_drafts(sentence, path);
    }
    path.push_back(take_row(sentence));
    if (rows[r].draft) sentence.drafts.push_back(path.back());
    step.layout.new_rows.push_back(path.back());
    const auto query = static_cast<int32_t>(r), begin = static_cast<int32_t>(step.layout.key_rows.size());
    step.layout.key_rows.insert(step.layout.key_rows.end(), path.begin(), path.end());
    step.layout.spans.push_back({query, query + 1, begin, begin + static_cast<int32_t>(path.size())});
    step.ids.push_back(rows[r].token);
    step.positions.push_back(static_cast<int32_t>(path.size()) - 1);
  }
  paths_ = std::move(paths);
  return step;
}

}  // namespace heed::models
