#include "decode/shared_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "base/blocked_signals.h"
#include "base/cancellation.h"
#include "base/memory_pool.h"
#include "base/thread_pool.h"

namespace heed::decode {
namespace {

constexpr std::chrono::seconds kIdle(2);

}  // namespace

/// One call of run().
class SharedSearch::Job : public SearchCaller {
 public:
  Job(SharedSearch& owner, const Search& search, const Search::TakeHypotheses& take_result,
      const Search::Control& control)
      : owner_(owner), search_(search), take_(take_result), control_(control) {}

  const SearchOptions& options() const override { return search_.options(); }
  bool cancelled() const override {
    return failed_.load(std::memory_order_relaxed) || is_cancelled(control_.cancelled);
  }
  bool shows() const override { return control_.show != nullptr; }
  void show(uint64_t number, const std::vector<int32_t>& ids) override { control_.show(number, ids); }

  void take(uint64_t number, std::vector<Hypothesis> hypotheses) override {
    const size_t written = hypotheses.empty() ? 0 : hypotheses.front().ids.size();
    std::exception_ptr failure;
    try {
      take_(number, std::move(hypotheses));
    } catch (...) {
      failure = std::current_exception();
    }
    if (owner_.options_.on_sentence) owner_.options_.on_sentence(source_tokens(number), written);
    leave(1, failure, false);
  }
  void fail(std::exception_ptr why) override { leave(1, std::move(why), false); }
  void drop() override { leave(1, {}, true); }

  /// Requires the owner's lock.
  void drop_waiting() {
    const size_t dropped = waiting.size();
    waiting.clear();
    note(dropped, {}, true);
  }

  // Guarded by the owner's mutex.
  std::deque<SearchSentence> waiting;
  size_t unfinished = 0;  // sentences, waiting ones included
  std::exception_ptr error;
  bool incomplete = false;
  std::condition_variable finished;

  void keep_lengths(const std::vector<SearchSentence>& sentences) {
    for (const SearchSentence& sentence : sentences)
      lengths_.emplace_back(sentence.number, sentence.source.size());
    std::sort(lengths_.begin(), lengths_.end());
  }

 private:
  size_t source_tokens(uint64_t number) const {
    const auto found = std::lower_bound(lengths_.begin(), lengths_.end(), std::pair(number, size_t{0}));
    return found == lengths_.end() ? 0 : found->second;
  }
  void leave(size_t count, std::exception_ptr why, bool dropped) {
    const std::lock_guard lock(owner_.mutex_);
    note(count, std::move(why), dropped);
  }
  void note(size_t count, std::exception_ptr why, bool dropped) {
    if (why) failed_ = true;
    if (why && !error) error = std::move(why);
    incomplete = incomplete || dropped;
    unfinished -= count;
    if (unfinished == 0) finished.notify_all();
  }

  SharedSearch& owner_;
  const Search& search_;
  const Search::TakeHypotheses& take_;
  const Search::Control& control_;
  std::vector<std::pair<uint64_t, size_t>> lengths_;
  std::atomic<bool> failed_ = false;  // the remaining sentences are dropped
};

/// The jobs that wait for a model, the next one first. Rows with and without a shortlist cannot share a step,
/// so a model may have two lanes.
struct SharedSearch::Lane {
  const models::AutoregressiveModel* model;
  bool shortlist;
  nn::Context context;
  std::list<Job*> jobs = {};  // with waiting sentences
  size_t waiting = 0;
};

struct SharedSearch::Call {
  const std::function<void()>& work;
  std::exception_ptr error = {};
  bool done = false;
  std::condition_variable finished = {};
};

SharedSearch::SharedSearch(Options options) : options_(std::move(options)) {
  const int count = options_.threads > 0 ? options_.threads : available_processors();
  for (int n = 0; n < count; ++n) threads_.emplace_back([this] { work(); });
}

SharedSearch::~SharedSearch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

SharedSearch::Lane& SharedSearch::lane_of(const Search& search) {
  const bool shortlist = search.options().shortlist != nullptr;
  for (Lane& lane : lanes_) {
    if (lane.model == &search.model() && lane.shortlist == shortlist) return lane;
  }
  return lanes_.emplace_back(Lane{&search.model(), shortlist, search.context()});
}

bool SharedSearch::run(const Search& search, std::vector<SearchSentence> sentences,
                       const Search::TakeHypotheses& take, const Search::Control& control) {
  Job job(*this, search, take, control);
  if (sentences.empty()) return !job.cancelled();
  job.keep_lengths(sentences);
  std::unique_lock lock(mutex_);
  job.unfinished = sentences.size();
  job.waiting.assign(std::make_move_iterator(sentences.begin()), std::make_move_iterator(sentences.end()));
  Lane& lane = lane_of(search);
  lane.jobs.push_back(&job);
  lane.waiting += job.waiting.size();
  if (job.waiting.size() == 1) {
    wake_.notify_one();
  } else {
    wake_.notify_all();
  }
  job.finished.wait(lock, [&] { return job.unfinished == 0; });
  if (job.error) std::rethrow_exception(job.error);
  return !job.incomplete;
}

void SharedSearch::call(const std::function<void()>& work) {
  Call call{work};
  std::unique_lock lock(mutex_);
  calls_.push_back(&call);
  wake_.notify_one();
  call.finished.wait(lock, [&] { return call.done; });
  if (call.error) std::rethrow_exception(call.error);
}

size_t SharedSearch::waiting() const {
  const std::lock_guard lock(mutex_);
  size_t sum = calls_.size();
  for (const Lane& lane : lanes_) sum += lane.waiting;
  return sum;
}

/// Takes sentences for a batch: round-robin over the callers, at most a fair share of the waiting ones, so
/// that all threads are busy.
std::vector<SearchBatch::Entry> SharedSearch::take(Lane& lane, const SearchBatch& batch) {
  std::vector<SearchBatch::Entry> taken;
  const size_t share = (lane.waiting + threads_.size() - 1) / threads_.size();
  size_t rows = batch.free_rows(), tokens = batch.free_tokens();
  while (!lane.jobs.empty() && taken.size() < share) {
    Job& job = *lane.jobs.front();
    if (job.cancelled()) {
      lane.jobs.pop_front();
      lane.waiting -= job.waiting.size();
      job.drop_waiting();  // its caller may return as soon as the lock is released
      continue;
    }
    const auto width = static_cast<size_t>(search_width(job.options()));
    const size_t length = job.waiting.front().source.size();
    const bool must = batch.empty() && taken.empty();
    if (!must && (width > rows || length > tokens)) break;
    rows -= std::min(rows, width);
    tokens -= std::min(tokens, length);
    taken.push_back({&job, std::move(job.waiting.front())});
    job.waiting.pop_front();
    --lane.waiting;
    lane.jobs.pop_front();
    if (!job.waiting.empty()) lane.jobs.push_back(&job);
  }
  return taken;
}

void SharedSearch::work() {
  block_signals();
  std::vector<std::unique_ptr<SearchBatch>> batches;  // one for each lane
  const auto busy = [&] {
    return std::ranges::any_of(batches, [](const auto& batch) { return batch && !batch->empty(); });
  };
  std::unique_lock lock(mutex_);
  const auto has_work = [&] {
    return stopping_ || busy() || !calls_.empty() ||
           std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.waiting > 0; });
  };
  while (true) {
    if (!wake_.wait_for(lock, kIdle, has_work)) {
      // The KV caches have grown with the longest sentences; an idle thread frees them.
      if (!batches.empty()) {
        batches.clear();
        lock.unlock();
        pool_trim();
        lock.lock();
      }
      wake_.wait(lock, has_work);
    }
    if (stopping_) return;
    if (!calls_.empty()) {
      Call& call = *calls_.front();
      calls_.pop_front();
      lock.unlock();
      try {
        call.work();
      } catch (...) {
        call.error = std::current_exception();
      }
      lock.lock();
      call.done = true;
      call.finished.notify_all();
    }
    batches.resize(lanes_.size());
    for (size_t n = 0; n < batches.size(); ++n) {
      Lane& lane = lanes_[n];
      if (lane.waiting == 0 && !batches[n]) continue;
      if (!batches[n]) batches[n] = std::make_unique<SearchBatch>(*lane.model, lane.context, options_.budget);
      std::vector<SearchBatch::Entry> entries = take(lane, *batches[n]);
      if (entries.empty() && batches[n]->empty()) continue;
      lock.unlock();
      batches[n]->admit(std::move(entries));
      const size_t rows = batches[n]->step();
      if (rows > 0 && options_.on_step) options_.on_step(rows);
      lock.lock();
      if (batches.size() < lanes_.size()) batches.resize(lanes_.size());
    }
  }
}

}  // namespace heed::decode
