#include "search/search_batch.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/check.h"
#include "models/source_vocabulary.h"

namespace heed::search {
namespace {

/// Adds forced tokens to the shortlist.
void add_required(SearchSentence& sentence) {
  if (sentence.required.empty()) return;
  for (const RequiredPhrase& phrase : sentence.required) {
    sentence.shortlist.insert(sentence.shortlist.end(), phrase.ids.begin(), phrase.ids.end());
  }
  std::sort(sentence.shortlist.begin(), sentence.shortlist.end());
  sentence.shortlist.erase(std::unique(sentence.shortlist.begin(), sentence.shortlist.end()),
                           sentence.shortlist.end());
}

}  // namespace

SearchBatch::SearchBatch(const models::AutoregressiveModel& model, const nn::Context& context,
                         const SearchBudget& budget)
    : model_(model), context_(context), budget_(budget) {}

SearchBatch::~SearchBatch() = default;

size_t SearchBatch::free_rows() const {
  const size_t free = budget_.rows > width_ ? budget_.rows - width_ : 0;
  return !empty() && free < budget_.rows / 4 ? 0 : free;
}

SearchLoad SearchBatch::load_of(const SearchCaller& caller) const {
  SearchLoad sum;
  for (const Live& live : live_) {
    if (live.caller == &caller) sum += {live.width, live.tokens};
  }
  return sum;
}

size_t SearchBatch::most_rows() const {
  size_t most = 0;
  for (const Live& live : live_) most = std::max(most, load_of(*live.caller).rows);
  return most;
}

void SearchBatch::require_readable(const SearchSentence& sentence) const {
  const int64_t longest = model_.max_length();
  if (sentence.source.empty())
    heed::fail(ErrorKind::kUsage, "sentence {} has no tokens", sentence.number + 1);
  if (longest > 0 && static_cast<int64_t>(sentence.source.size()) > longest) {
    heed::fail(ErrorKind::kUsage, "sentence {} has {} tokens, but the model's maximum is {}: split it",
               sentence.number + 1, sentence.source.size(), longest);
  }
  for (const int32_t id : sentence.source) {
    if (id < 0 || id >= models::source_vocabulary_size(model_)) {
      heed::fail(ErrorKind::kUsage,
                 "sentence {} contains the id {}, which is out of range for a vocabulary of {}",
                 sentence.number + 1, id, models::source_vocabulary_size(model_));
    }
  }
}

void SearchBatch::admit(std::vector<Entry> entries) {
  std::vector<Live> admitted;
  try {  // so that no sentence gets lost below, where each is added to both
    admitted.reserve(entries.size());
    live_.reserve(live_.size() + entries.size());
  } catch (...) {
    for (const Entry& entry : entries) entry.caller->fail(std::current_exception());
    return;
  }
  std::vector<std::span<const int32_t>> texts;
  for (Entry& entry : entries) {
    SearchSentence& sentence = entry.sentence;
    const SearchOptions& options = entry.caller->options();
    try {
      require_readable(sentence);
      if (options.shortlist != nullptr) {
        sentence.shortlist = options.shortlist->tokens(sentence.source);
        add_required(sentence);
      }
      auto search = make_sentence_search(options, model_, sentence);
      const size_t live_width = search->width();
      const bool drafts = model_.takes_drafts() && live_width == 1;
      Live live{entry.caller,
                sentence.number,
                0,
                sentence.source.size(),
                live_width,
                sentence.shortlist,
                std::move(search),
                NgramDrafts(drafts ? options.draft_tokens : 0)};
      for (const int32_t id : model_.prompt(sentence.source)) live.drafts.append(id);
      texts.emplace_back(sentence.source);
      admitted.push_back(std::move(live));
    } catch (...) {
      entry.caller->fail(std::current_exception());
    }
  }
  if (admitted.empty()) return;
  const size_t before = live_.size();
  for (Live& live : admitted) {
    tokens_ += live.tokens;
    width_ += live.width;
    live_.push_back(std::move(live));
  }
  try {
    models::Sequences sources;
    for (const std::span<const int32_t> text : texts) sources.append(text);
    if (state_ == nullptr) state_ = model_.start(context_);
    const std::vector<int32_t> numbers = model_.admit(context_, *state_, sources);
    for (size_t n = 0; n < numbers.size(); ++n) live_[before + n].state_number = numbers[n];
  } catch (...) {
    fail_all(std::current_exception());
  }
}

std::vector<models::StepRow> SearchBatch::gather_rows() {
  std::vector<models::StepRow> rows;
  for (Live& live : live_) {
    const auto first = static_cast<int32_t>(rows.size());
    for (const SentenceSearch::Row& row : live.search->rows()) {
      rows.push_back({live.state_number, row.parent < 0 ? -1 : live.first_row + row.parent, row.token, false,
                      live.shortlist});
    }
    live.first_row = first;
    live.draft = next_draft(live);
    for (const int32_t id : live.draft) rows.push_back({live.state_number, -1, id, true, live.shortlist});
  }
  return rows;
}

/// Drafts pay off while a step waits for memory. A model has positions for its maximum length only.
std::vector<int32_t> SearchBatch::next_draft(Live& live) const {
  constexpr size_t kMostHypotheses = 2;
  if (width_ > kMostHypotheses) return {};
  const auto longest = static_cast<size_t>(model_.max_length()), tokens = live.drafts.text_tokens();
  if (longest == 0) return live.drafts.next();
  return live.drafts.next(longest - std::min(longest, tokens));
}

void SearchBatch::leave(Live& live) {
  tokens_ -= live.tokens;
  width_ -= live.width;
  live.left = true;
  try {
    model_.release(*state_, live.state_number);
  } catch (const std::bad_alloc&) {
    // The decoder state keeps the rows of this sentence until the batch is empty.
  }
}

void SearchBatch::erase_left() {
  std::erase_if(live_, [](const Live& live) { return live.left; });
}

/// The decoder state is undefined after an error, so it is replaced.
void SearchBatch::fail_all(const std::exception_ptr& error) {
  for (const Live& live : live_) live.caller->fail(error);
  live_.clear();
  tokens_ = width_ = 0;
  state_ = nullptr;
}

void SearchBatch::advance(Live& live, std::span<float> logits) {
  try {
    live.search->advance(logits);
    if (live.caller->shows()) live.caller->show(live.number, live.search->ids_so_far());
    if (!live.search->done()) return;
    leave(live);
    live.caller->take(live.number, live.search->take());
  } catch (...) {
    if (!live.left) leave(live);
    live.caller->fail(std::current_exception());
  }
}

void SearchBatch::read(Live& live, std::span<float> logits, size_t columns) {
  const auto next_row = [&](size_t count) {
    const std::span<float> row = logits.first(count * columns);
    logits = logits.subspan(count * columns);
    return row;
  };
  advance(live, next_row(live.search->rows().size()));
  size_t right = 0;
  while (!live.left) {
    const std::vector<SentenceSearch::Row>& rows = live.search->rows();
    if (rows.size() != 1) return;
    live.drafts.append(rows[0].token);
    if (right == live.draft.size() || rows[0].token != live.draft[right]) break;
    ++right;
    ++live.first_row;  // the next rows continue the draft
    advance(live, next_row(1));
  }
  live.drafts.report(right);
}

size_t SearchBatch::step() {
  for (Live& live : live_) {
    if (!live.caller->cancelled()) continue;
    leave(live);
    live.caller->drop();
  }
  erase_left();
  if (live_.empty()) return 0;
  std::vector<models::StepRow> rows;
  Tensor logits;  // concatenated by row
  try {
    rows = gather_rows();
    logits = model_.step(context_, *state_, rows);
  } catch (...) {
    fail_all(std::current_exception());
    return 0;
  }
  const auto vocabulary = static_cast<size_t>(model_.vocabulary_size());
  float* first = logits.data<float>();
  for (Live& live : live_) {
    const size_t columns = live.shortlist.empty() ? vocabulary : live.shortlist.size();
    const size_t count = live.search->rows().size() + live.draft.size();
    live.caller->charge(count);
    try {
      read(live, {first, count * columns}, columns);
    } catch (...) {
      if (!live.left) {
        leave(live);
        live.caller->fail(std::current_exception());
      }
    }
    first += count * columns;
  }
  erase_left();
  return rows.size();
}

}  // namespace heed::search
