// Computing without the GIL, and with Ctrl-C.
//
// The generated code of matrix products keeps data below the stack pointer, where a signal handler would
// overwrite it, so a thread that computes blocks all signals. Python handles signals in its main thread only:
// calls from there compute in a helper thread, while the main thread waits and handles signals. Calls from
// other threads compute in the calling thread.
#pragma once

#include <atomic>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "base/stop.h"

namespace heed::python {

/// Runs `work` without the GIL and returns when it has ended. If a Python signal handler raises meanwhile
/// (Ctrl-C: KeyboardInterrupt), sets `cancelled`, waits for `work`, and throws nanobind::python_error.
/// Rethrows the exceptions of `work`. Call it with the GIL.
void in_background(const std::function<void(const std::atomic<bool>& cancelled)>& work);

/// The same for work that returns a value and is not told its flag: forward and backward passes, and
/// tokenizers, end soon after it is set (StopScope).
template <typename Work>
auto in_background_get(Work&& work) {
  using Result = decltype(work());
  Result* result = nullptr;
  struct Owner {
    Result*& made;
    ~Owner() { delete made; }
  } owner{result};
  in_background([&](const std::atomic<bool>& cancelled) {
    const StopScope stop{Stop(&cancelled)};
    result = new Result(work());
  });
  return std::move(*result);
}

/// For __init__: makes an object in the background and moves it to `self`, the memory of the Python object,
/// once no signal handler can raise any more. An object that is made there at once would be lost by that:
/// Python destroys none whose __init__ fails.
template <typename T, typename Make>
void construct_in_background(T* self, const Make& make) {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  new (self) T(in_background_get(make));
}

/// For short work: computes in the calling thread, without the GIL, and with signals blocked.
class ShortWork {
 public:
  ShortWork();
  ~ShortWork();
  ShortWork(const ShortWork&) = delete;
  ShortWork& operator=(const ShortWork&) = delete;

 private:
  struct State;
  State* state_;
};

}  // namespace heed::python
