// Calls of Python functions by threads that compute.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <utility>

namespace heed::python {

/// A Python function, or None. Its first exception cancels the work and is kept for the caller.
class Callback {
 public:
  explicit Callback(nanobind::object function) : function_(std::move(function)) {}

  explicit operator bool() const { return !function_.is_none(); }

  /// Calls the function with make(), which is called with the GIL. Not after an exception.
  template <typename Make>
  void call(const Make& make) {
    const nanobind::gil_scoped_acquire acquired;
    if (error_) return;
    try {
      function_(make());
    } catch (nanobind::python_error& error) {
      error_ = std::make_unique<nanobind::python_error>(std::move(error));
      failed_ = true;
    }
  }

  /// For the garbage collector: the function, and letting it go; it is not called after that.
  const nanobind::object& function() const { return function_; }
  void clear() { function_ = nanobind::none(); }

  /// Whether there was an exception.
  const std::atomic<bool>& failed() const { return failed_; }
  /// Throws that exception, with the GIL.
  void rethrow() {
    if (error_) throw nanobind::python_error(std::move(*error_));
  }

 private:
  nanobind::object function_;
  std::unique_ptr<nanobind::python_error> error_;
  std::atomic<bool> failed_{false};
};

}  // namespace heed::python
