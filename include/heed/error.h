// Errors that a user of the library can cause and can act on.
#pragma once

#include <stdexcept>
#include <string>

namespace heed {

/// What kind of thing went wrong, for callers that react differently to each.
enum class ErrorKind {
  kUsage,     ///< an option or argument that makes no sense
  kShape,     ///< shapes, widths or lengths that do not fit each other
  kNotFound,  ///< a file or directory that is not there
  kFile,      ///< reading or writing failed: permissions, full disk, not a file
  kFormat,    ///< a file whose content is not what it should be
  kText,      ///< text that is not valid UTF-8
  kNumeric,   ///< not a number, or infinite, where a finite number is needed
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
