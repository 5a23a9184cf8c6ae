#include "search/shared_search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "base/blocked_signals.h"
#include "base/memory_pool.h"
#include "base/stop.h"
#include "base/thread_pool.h"

namespace heed::search {
namespace {

constexpr std::chrono::seconds kIdle(2);
/// Free memory beyond this is returned to the system when a batch runs empty.
constexpr uint64_t kKeptBytes = uint64_t{256} << 20;

/// Whether a caller that has `own` of a batch may add a sentence. A batch has room for the first sentence of
/// a caller until it is full; another one must leave free a third of what the caller then has, so that one
/// caller fills at most three quarters, and several share what they leave.
bool may_add(const SearchLoad& own, const SearchLoad& all, const SearchLoad& sentence,
             const SearchBudget& budget) {
  if (all.rows == 0) return true;
  if (own.rows == 0) return all.rows < budget.rows && all.tokens < budget.source_tokens;
  const auto leaves_enough = [](size_t mine, size_t used, size_t most) {
    return used <= most && mine <= 3 * (most - used);
  };
  return leaves_enough(own.rows + sentence.rows, all.rows + sentence.rows, budget.rows) &&
         leaves_enough(own.tokens + sentence.tokens, all.tokens + sentence.tokens, budget.source_tokens);
}

void return_free_memory() {
  const PoolStatistics statistics = pool_statistics();
  if (statistics.bytes_from_system - statistics.bytes_in_use > kKeptBytes) pool_trim();
}

}  // namespace

/// One call of run().
class SharedSearch::Job : public SearchCaller {
 public:
  Job(SharedSearch& owner, const Search& search, const Search::TakeHypotheses& take_result,
      const Search::Control& control)
      : owner_(owner), search_(search), take_(take_result), control_(control) {}

  const SearchOptions& options() const override { return search_.options(); }
  bool cancelled() const override {
    return failed_.load(std::memory_order_relaxed) || control_.stop.requested();
  }
  bool shows() const override { return control_.show != nullptr; }
  void show(uint64_t number, const std::vector<int32_t>& ids) override { control_.show(number, ids); }

  void charge(size_t rows) override { served.fetch_add(rows, std::memory_order_relaxed); }

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

  /// The sentences that wait leave: because of an error, or dropped without one. Requires the owner's lock.
  void leave_waiting(const std::exception_ptr& why) {
    const size_t count = waiting.size();
    waiting.clear();
    note(count, why, why == nullptr);
  }

  /// Tokens that were encoded and decoded for this caller, beginning from those of the others.
  std::atomic<uint64_t> served = 0;

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

/// The jobs that wait for a model. Rows with and without a shortlist cannot share a step,
/// so a model may have two lanes.
struct SharedSearch::Lane {
  const models::AutoregressiveModel* model;
  bool shortlist;
  nn::Context context;
  std::list<Job*> jobs = {};  // with waiting sentences
  size_t waiting = 0;
  /// `served` of the last job from which a sentence was taken; new jobs begin there, so that they have no
  /// advantage over those that have waited.
  uint64_t served = 0;
};

struct SharedSearch::Call {
  const std::function<void()>& work;
  std::exception_ptr error = {};
  bool done = false;
  std::condition_variable finished = {};
};

SharedSearch::SharedSearch(Options options) : options_(std::move(options)) {
  const int count = options_.threads > 0 ? options_.threads : available_processors();
  try {
    for (int n = 0; n < count; ++n) {
      threads_.emplace_back([this] { work(); });
      call_threads_.emplace_back([this] { work_on_calls(); });
    }
  } catch (...) {  // the system has no further thread
    end_threads();
    throw;
  }
}

SharedSearch::~SharedSearch() {
  end_threads();
}

void SharedSearch::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  wake_for_calls_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (std::thread& thread : call_threads_) thread.join();
}

SharedSearch::Lane& SharedSearch::lane_of(const Search& search) {
  const bool shortlist = search.options().shortlist != nullptr;
  for (const std::unique_ptr<Lane>& lane : lanes_) {
    if (lane->model == &search.model() && lane->shortlist == shortlist) return *lane;
  }
  lanes_.push_back(std::make_unique<Lane>(Lane{&search.model(), shortlist, search.context()}));
  return *lanes_.back();
}

void SharedSearch::run(const Search& search, std::vector<SearchSentence> sentences,
                       const Search::TakeHypotheses& take, const Search::Control& control) {
  Job job(*this, search, take, control);
  if (sentences.empty()) return control.stop.check();
  job.keep_lengths(sentences);
  std::unique_lock lock(mutex_);
  job.unfinished = sentences.size();
  job.waiting.assign(std::make_move_iterator(sentences.begin()), std::make_move_iterator(sentences.end()));
  Lane& lane = lane_of(search);
  job.served = lane.served;
  lane.jobs.push_back(&job);
  lane.waiting += job.waiting.size();
  if (job.waiting.size() == 1) {
    wake_.notify_one();
  } else {
    wake_.notify_all();
  }
  job.finished.wait(lock, [&] { return job.unfinished == 0; });
  if (job.error) std::rethrow_exception(job.error);
  if (job.incomplete) throw Cancelled();
}

/// Requires the lock.
void SharedSearch::enqueue(const std::string& client, Call& call) {
  const auto found = std::ranges::find(calls_, client, &ClientCalls::client);
  if (found != calls_.end()) return found->waiting.push_back(&call);
  calls_.push_back({.client = client, .waiting = {&call}});
}

/// Of the client whose turn it is, which is then behind the others. Requires the lock, and a waiting call.
SharedSearch::Call& SharedSearch::next_call() {
  ClientCalls& first = calls_.front();
  Call& call = *first.waiting.front();
  first.waiting.pop_front();
  if (first.waiting.empty()) {
    calls_.pop_front();
  } else {
    calls_.splice(calls_.end(), calls_, calls_.begin());
  }
  return call;
}

void SharedSearch::call(const std::string& client, const std::function<void()>& work) {
  Call call{work};
  std::unique_lock lock(mutex_);
  enqueue(client, call);
  wake_for_calls_.notify_one();
  call.finished.wait(lock, [&] { return call.done; });
  if (call.error) std::rethrow_exception(call.error);
}

size_t SharedSearch::waiting() const {
  const std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const ClientCalls& calls : calls_) sum += calls.waiting.size();
  for (const std::unique_ptr<Lane>& lane : lanes_) sum += lane->waiting;
  return sum;
}

/// The waiting sentences of cancelled jobs are dropped. Requires the lock.
void SharedSearch::drop_cancelled(Lane& lane) {
  std::erase_if(lane.jobs, [&](Job* job) {
    if (!job->cancelled()) return false;
    lane.waiting -= job->waiting.size();
    job->leave_waiting({});  // its caller may return as soon as the lock is released
    return true;
  });
}

/// The same for all jobs of the lane, with an error. Requires the lock.
void SharedSearch::fail_waiting(Lane& lane, const std::exception_ptr& error) {
  for (Job* job : lane.jobs) job->leave_waiting(error);
  lane.jobs.clear();
  lane.waiting = 0;
}

/// Takes sentences for a batch, the next one always of the job that has been served least, and at most a fair
/// share of the waiting ones, so that all threads are busy.
std::vector<SearchBatch::Entry> SharedSearch::take(Lane& lane, const SearchBatch& batch) {
  drop_cancelled(lane);
  const size_t share = (lane.waiting + threads_.size() - 1) / threads_.size();
  std::vector<SearchBatch::Entry> taken;
  taken.reserve(share);  // here, where memory may run out without a sentence getting lost
  struct Candidate {
    Job* job;
    SearchLoad own;
  };
  std::vector<Candidate> candidates;
  for (Job* job : lane.jobs) candidates.push_back({job, batch.load_of(*job)});
  SearchLoad all = batch.load();
  // Several sentences are encoded together: callers in the batch wait until half of it is free, others until
  // a quarter is, unless one caller has much of it, whose sentences may be long.
  const bool full = batch.free_rows() == 0 && batch.most_rows() <= options_.budget.rows / 4;
  std::erase_if(candidates, [&](const Candidate& each) {
    return each.own.rows > 0 ? all.rows > options_.budget.rows / 2 : full;
  });
  while (!candidates.empty() && taken.size() < share) {
    const auto next =
        std::ranges::min_element(candidates, {}, [](const Candidate& c) { return c.job->served.load(); });
    Job& job = *next->job;
    const SearchLoad sentence{static_cast<size_t>(search_width(job.options())),
                              job.waiting.front().source.size()};
    if (!may_add(next->own, all, sentence, options_.budget)) {
      candidates.erase(next);
      continue;
    }
    lane.served = std::max(lane.served, job.served.load());
    job.charge(sentence.tokens);
    all += sentence;
    next->own += sentence;
    taken.push_back({&job, std::move(job.waiting.front())});
    job.waiting.pop_front();
    --lane.waiting;
    if (!job.waiting.empty()) continue;
    lane.jobs.remove(&job);
    candidates.erase(next);
  }
  return taken;
}

void SharedSearch::work_on_calls() {
  block_signals();
  std::unique_lock lock(mutex_);
  while (true) {
    wake_for_calls_.wait(lock, [&] { return stopping_ || !calls_.empty(); });
    if (stopping_) return;
    Call& call = next_call();
    lock.unlock();
    try {
      call.work();
    } catch (...) {
      call.error = std::current_exception();
    }
    return_free_memory();
    lock.lock();
    call.done = true;
    call.finished.notify_all();
  }
}

void SharedSearch::work() {
  block_signals();
  std::vector<std::unique_ptr<SearchBatch>> batches;  // one for each lane
  const auto busy = [&] {
    return std::ranges::any_of(batches, [](const auto& batch) { return batch && !batch->empty(); });
  };
  std::unique_lock lock(mutex_);
  const auto has_work = [&] {
    return stopping_ || busy() ||
           std::ranges::any_of(lanes_, [](const auto& lane) { return lane->waiting > 0; });
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
    for (size_t n = 0; n < lanes_.size(); ++n) {
      Lane& lane = *lanes_[n];
      std::vector<SearchBatch::Entry> entries;
      try {
        if (batches.size() <= n) batches.resize(n + 1);
        if (lane.waiting == 0 && !batches[n]) continue;
        if (!batches[n])
          batches[n] = std::make_unique<SearchBatch>(*lane.model, lane.context, options_.budget);
        entries = take(lane, *batches[n]);
      } catch (...) {  // memory has run out; what is in the batch goes on
        fail_waiting(lane, std::current_exception());
      }
      if (batches.size() <= n || !batches[n] || (entries.empty() && batches[n]->empty())) continue;
      lock.unlock();
      batches[n]->admit(std::move(entries));
      const size_t rows = batches[n]->step();
      if (rows > 0 && options_.on_step) options_.on_step(rows);
      if (batches[n]->empty()) {
        batches[n].reset();  // its KV caches have the size of its longest sentences
        return_free_memory();
      }
      lock.lock();
    }
  }
}

}  // namespace heed::search
