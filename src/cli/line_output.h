// Where a subcommand writes its results: a file, whole or not at all, or standard output as it goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace heed::cli {

class LineOutput {
 public:
  /// "" and "-" are standard output. Throws kFile at once for a file that cannot be written.
  explicit LineOutput(const std::string& path);

  /// Throws kFile, as all below.
  void write(std::string_view text);
  void write_line(std::string_view line) {
    write(line);
    write("\n");
  }
  /// Shows what was written so far to whoever reads standard output; a file waits for commit().
  void flush();
  /// All is written: the file appears.
  void commit();

  bool to_stdout() const { return !file_; }

 private:
  std::optional<AtomicFile> file_;
};

/// The text of a translation as a part of a line. A model may write any byte: what would end the line, or
/// with several `columns` the column, becomes a space, and so does NUL, at which other programs stop.
std::string within_line(std::string text, bool columns = false);

}  // namespace heed::cli
