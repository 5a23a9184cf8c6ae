#include "decode/search.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.h"

namespace heed::decode {

namespace {

/// What must come may come.
void add_required(SearchSentence& sentence) {
  if (sentence.required.empty()) return;
  for (const RequiredPhrase& phrase : sentence.required) {
    sentence.words.insert(sentence.words.end(), phrase.ids.begin(), phrase.ids.end());
  }
  std::sort(sentence.words.begin(), sentence.words.end());
  sentence.words.erase(std::unique(sentence.words.begin(), sentence.words.end()), sentence.words.end());
}

}  // namespace

/// The sentences that are being searched now.
class Search::Batch {
 public:
  explicit Batch(const Search& search)
      : search_(search), context_(search.context_), state_(search.model_.start(context_)) {}

  bool empty() const { return live_.empty(); }
  SearchRoom room() const;
  void admit(const std::vector<SearchSentence>& sentences);
  void step(const ShowWords& show);
  void release_done(const TakeHypotheses& take);

 private:
  struct Live {
    uint64_t number = 0;       // as the caller knows it
    int32_t state_number = 0;  // as the state knows it
    size_t tokens = 0;
    std::vector<int32_t> words;  // that its translation may hold; none: all
    std::unique_ptr<SentenceSearch> search;
    int32_t first_row = 0;  // of its rows in the last step
  };
  void require_readable(const SearchSentence& sentence) const;
  std::vector<models::StepRow> gather_rows();

  const Search& search_;
  nn::Context context_;
  std::unique_ptr<models::DecoderState> state_;
  std::vector<Live> live_;
  size_t tokens_ = 0;  // of the sources of all live sentences
};

/// Nothing until a quarter of the batch is free: sentences that come together are encoded together.
SearchRoom Search::Batch::room() const {
  const SearchBudget& budget = search_.budget_;
  const auto width = static_cast<size_t>(search_width(search_.options_));
  const size_t taken = live_.size() * width;
  const size_t free = budget.rows > taken ? budget.rows - taken : 0;
  if (!empty() && free < budget.rows / 4) return {};
  return {free / width, budget.source_tokens > tokens_ ? budget.source_tokens - tokens_ : 0, empty()};
}

void Search::Batch::require_readable(const SearchSentence& sentence) const {
  const int64_t longest = search_.model_.max_length();
  if (sentence.source.empty()) fail(ErrorKind::kUsage, "sentence {} has no tokens", sentence.number + 1);
  if (longest > 0 && static_cast<int64_t>(sentence.source.size()) > longest) {
    fail(ErrorKind::kUsage, "sentence {} has {} tokens, and the model has positions for {}: split it",
         sentence.number + 1, sentence.source.size(), longest);
  }
  for (const int32_t id : sentence.source) {
    if (id < 0 || id >= search_.model_.vocabulary_size()) {
      fail(ErrorKind::kUsage, "sentence {} holds the id {}, outside the vocabulary of {}",
           sentence.number + 1, id, search_.model_.vocabulary_size());
    }
  }
}

void Search::Batch::admit(const std::vector<SearchSentence>& sentences) {
  if (sentences.empty()) return;
  models::Sequences sources;
  for (const SearchSentence& sentence : sentences) {
    require_readable(sentence);
    sources.append(sentence.source);
  }
  const std::vector<int32_t> numbers = search_.model_.admit(context_, *state_, sources);
  for (size_t n = 0; n < sentences.size(); ++n) {
    SearchSentence sentence = sentences[n];
    if (search_.options_.shortlist != nullptr) {
      sentence.words = search_.options_.shortlist->words(sentence.source);
      add_required(sentence);
    }
    live_.push_back({sentence.number, numbers[n], sentence.source.size(), sentence.words,
                     make_sentence_search(search_.options_, search_.model_, sentence)});
    tokens_ += sentence.source.size();
  }
}

std::vector<models::StepRow> Search::Batch::gather_rows() {
  std::vector<models::StepRow> rows;
  for (Live& live : live_) {
    const auto first = static_cast<int32_t>(rows.size());
    for (const SentenceSearch::Row& row : live.search->rows()) {
      rows.push_back(
          {live.state_number, row.parent < 0 ? -1 : live.first_row + row.parent, row.token, live.words});
    }
    live.first_row = first;
  }
  return rows;
}

void Search::Batch::step(const ShowWords& show) {
  Tensor logits = search_.model_.step(context_, *state_, gather_rows());  // row by row
  const auto all_words = static_cast<size_t>(search_.model_.vocabulary_size());
  float* first = logits.data<float>();
  for (Live& live : live_) {
    const size_t words = live.words.empty() ? all_words : live.words.size();
    const size_t count = live.search->rows().size() * words;
    live.search->advance({first, count});
    first += count;
    if (show) show(live.number, live.search->certain_words());
  }
}

void Search::Batch::release_done(const TakeHypotheses& take) {
  for (Live& live : live_) {
    if (!live.search->done()) continue;
    take(live.number, live.search->take());
    search_.model_.release(*state_, live.state_number);
    tokens_ -= live.tokens;
  }
  std::erase_if(live_, [](const Live& live) { return live.search->done(); });
}

Search::Search(const models::Generator& model, const nn::Context& context, const SearchOptions& options,
               const SearchBudget& budget)
    : model_(model), context_(context), options_(options), budget_(budget) {
  require_valid(options, model);
  if (!uses_shortlist(options)) options_.shortlist = nullptr;
}

bool Search::run(const NextSentences& next, const TakeHypotheses& take, const Control& control) const {
  Batch batch(*this);
  while (true) {
    if (control.cancelled != nullptr && control.cancelled->load(std::memory_order_relaxed)) return false;
    const SearchRoom room = batch.room();
    if (room.sentences > 0 || room.at_least_one) batch.admit(next(room));
    if (batch.empty()) return true;
    batch.step(control.show);
    batch.release_done(take);
  }
}

std::vector<std::vector<Hypothesis>> Search::run(std::vector<SearchSentence> sentences) const {
  std::vector<std::vector<Hypothesis>> results(sentences.size());
  WorkQueue queue(std::move(sentences), 1);
  run([&](const SearchRoom& room) { return queue.take(room); },
      [&](uint64_t number, std::vector<Hypothesis> hypotheses) {
        results.at(number) = std::move(hypotheses);
      });
  return results;
}

}  // namespace heed::decode
