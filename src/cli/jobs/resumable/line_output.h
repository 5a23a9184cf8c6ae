// Output of a subcommand: standard output, a file that appears when it is complete, or a file that is
// continued after an interruption. Files whose names end in .gz or .zst are compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "data/corpus/readers/compression.h"

namespace heed::cli {

class ResumableFile;

class LineOutput {
 public:
  /// "" and "-" are standard output. A file appears atomically with commit(). Throws kFile if the file cannot
  /// be written.
  explicit LineOutput(const std::string& path);
  explicit LineOutput(std::unique_ptr<ResumableFile> file);
  ~LineOutput();
  LineOutput(LineOutput&&) noexcept;
  LineOutput& operator=(LineOutput&&) noexcept;

  /// Throws kFile, like all functions below.
  void write(std::string_view text);
  void write_line(std::string_view line) {
    write(line);
    write("\n");
  }
  /// Everything for one more line of the input has been written: a file that is continued needs to know.
  void end_input_line();
  /// Flushes standard output; files do nothing.
  void flush();
  /// Finishes the output; the file appears. A file that is continued needs the fingerprint of the input that
  /// was read to its end, and fails with kFile if the input changed meanwhile.
  void commit(std::optional<uint64_t> input_fingerprint = {});

  bool to_stdout() const { return !whole_ && !resumable_; }
  /// Of a file that is continued: input lines whose output it contains, and whether that is all.
  uint64_t lines_done() const;
  bool complete() const;

 private:
  void write_block();

  // At most one of these; neither for standard output.
  std::unique_ptr<AtomicFile> whole_;
  std::unique_ptr<ResumableFile> resumable_;
  Compression compression_ = Compression::kNone;
  std::string block_;  // of a file, not yet compressed and written
  uint64_t block_lines_ = 0;
};

/// Whether an output is one of the files that are read, by whatever name.
bool is_input(const std::string& output, const std::vector<std::string>& inputs);

/// Makes a translation safe for line output. A model may generate any byte: line ends and NUL become spaces,
/// and with `columns` tabs do too.
std::string within_line(std::string text, bool columns = false);

}  // namespace heed::cli
