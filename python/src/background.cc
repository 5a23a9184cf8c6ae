#include "background.h"

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/blocked_signals.h"

namespace nb = nanobind;

namespace heed::python {
namespace {

/// How often the main thread looks for signals.
constexpr std::chrono::milliseconds kSignalInterval(50);

/// A thread that runs one piece of work after the other. Never destroyed, since Python ends without waiting.
class Helper {
 public:
  Helper() {
    const BlockedSignals inherited_by_the_thread;
    std::thread([this] { loop(); }).detach();
  }

  void start(const std::function<void()>& work) {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    changed_.notify_all();
  }

  /// Whether the work ended within the time.
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kSignalInterval, [this] { return work_ == nullptr; });
  }

 private:
  [[noreturn]] void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      lock.unlock();
      (*work_)();
      lock.lock();
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
};

/// Helpers without work. There is one, and more if a signal handler computes in the meantime. Guarded by the
/// GIL.
struct Helpers {
  Helper* take() {
    if (process != ::getpid()) {  // threads do not survive fork()
      process = ::getpid();
      idle.clear();
    }
    if (idle.empty()) return new Helper;
    Helper* const last = idle.back();
    idle.pop_back();
    return last;
  }

  pid_t process = 0;
  std::vector<Helper*> idle;
};

Helpers& helpers() {
  static Helpers* const all = new Helpers;
  return *all;
}

/// PyErr_CheckSignals works there only.
bool is_main_thread() {
  static const long main_thread =
      nb::cast<long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  return nb::cast<long>(nb::module_::import_("threading").attr("get_ident")()) == main_thread;
}

void run_here(const std::function<void(const std::atomic<bool>&)>& work) {
  const std::atomic<bool> never{false};
  const nb::gil_scoped_release released;
  const BlockedSignals blocked;
  work(never);
}

}  // namespace

void in_background(const std::function<void(const std::atomic<bool>& cancelled)>& work) {
  if (!is_main_thread()) return run_here(work);
  std::atomic<bool> cancelled{false};
  std::exception_ptr error;
  const std::function<void()> caught = [&] {
    try {
      work(cancelled);
    } catch (...) {
      error = std::current_exception();
    }
  };
  std::unique_ptr<nb::python_error> interruption;
  Helper* const helper = helpers().take();
  helper->start(caught);
  while (true) {
    bool done = false;
    {
      const nb::gil_scoped_release released;
      done = helper->wait();
    }
    if (done) break;
    if (!interruption && PyErr_CheckSignals() != 0) {
      interruption = std::make_unique<nb::python_error>();
      cancelled = true;
    }
  }
  helpers().idle.push_back(helper);
  if (interruption) throw nb::python_error(std::move(*interruption));
  if (error) std::rethrow_exception(error);
}

struct ShortWork::State {
  nb::gil_scoped_release released;
  BlockedSignals blocked;
};

ShortWork::ShortWork() : state_(new State) {}
ShortWork::~ShortWork() {
  delete state_;
}

}  // namespace heed::python
