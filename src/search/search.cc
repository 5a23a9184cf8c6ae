#include "search/search.h"

#include <exception>
#include <utility>

namespace heed::search {
namespace {

/// The caller of a batch that has a single one.
class OnlyCaller : public SearchCaller {
 public:
  OnlyCaller(const SearchOptions& options, const Search::TakeHypotheses& take, const Search::Control& control)
      : options_(options), take_(take), control_(control) {}

  const SearchOptions& options() const override { return options_; }
  bool cancelled() const override { return control_.stop.requested(); }
  bool shows() const override { return control_.show != nullptr; }
  void show(uint64_t number, const std::vector<int32_t>& ids) override { control_.show(number, ids); }
  void take(uint64_t number, std::vector<Hypothesis> hypotheses) override {
    take_(number, std::move(hypotheses));
  }
  void fail(std::exception_ptr error) override {
    if (!error_) error_ = std::move(error);
  }
  void drop() override {}

  void throw_error() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const SearchOptions& options_;
  const Search::TakeHypotheses& take_;
  const Search::Control& control_;
  std::exception_ptr error_;
};

}  // namespace

Search::Search(const models::AutoregressiveModel& model, const nn::Context& context,
               const SearchOptions& options, const SearchBudget& budget)
    : model_(model), context_(context), options_(with_greedy_at_zero(options)), budget_(budget) {
  require_valid(options_, model);
  if (!uses_shortlist(options_)) options_.shortlist = nullptr;
}

void Search::run(const NextSentences& next, const TakeHypotheses& take, const Control& control) const {
  SearchBatch batch(model_, context_, budget_);
  OnlyCaller caller(options_, take, control);
  const auto width = static_cast<size_t>(search_width(options_));
  while (true) {
    control.stop.check();
    const SearchRoom room{batch.free_rows() / width, batch.free_tokens(), batch.empty()};
    if (room.sentences > 0 || room.at_least_one) {
      std::vector<SearchBatch::Entry> entries;
      for (SearchSentence& sentence : next(room)) entries.push_back({&caller, std::move(sentence)});
      batch.admit(std::move(entries));
      caller.throw_error();
    }
    if (batch.empty()) return;
    batch.step();
    caller.throw_error();
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

void search_all(const Search& search, std::vector<SearchSentence> sentences, ThreadPool& pool,
                const Search::TakeHypotheses& take, const Search::Control& control) {
  WorkQueue queue(std::move(sentences), pool.threads());
  const auto next = [&](const SearchRoom& room) { return queue.take(room); };
  pool.run(queue.takers(), [&](size_t) { search.run(next, take, control); });
}

}  // namespace heed::search
