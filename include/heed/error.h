// Errors caused by input, which users of the library can handle.
#pragma once

#include <stdexcept>
#include <string>

namespace heed {

/// Kinds of errors, for callers that handle them differently.
enum class ErrorKind {
  kUsage,     ///< invalid option or argument
  kShape,     ///< mismatched shapes, widths or lengths
  kNotFound,  ///< missing file or directory
  kFile,      ///< reading or writing failed: permissions, full disk, not a file
  kFormat,    ///< malformed file content
  kText,      ///< text that is not valid UTF-8
  kNumeric,   ///< NaN or infinity instead of a finite number
};

/// Thrown by every public function for bad input. `what()` says what is wrong, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace heed
