// Output of a subcommand: a file that appears atomically when complete, or standard output.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace heed::cli {

class LineOutput {
 public:
  /// "" and "-" are standard output. Throws kFile if the file cannot be written.
  explicit LineOutput(const std::string& path);

  /// Throws kFile, like all functions below.
  void write(std::string_view text);
  void write_line(std::string_view line) {
    write(line);
    write("\n");
  }
  /// Flushes standard output; a file appears only with commit().
  void flush();
  /// Finishes the output; the file appears.
  void commit();

  bool to_stdout() const { return !file_; }

 private:
  std::optional<AtomicFile> file_;
};

/// Makes a translation safe for line output. A model may generate any byte: line ends and NUL become spaces,
/// and with `columns` tabs do too.
std::string within_line(std::string text, bool columns = false);

}  // namespace heed::cli
