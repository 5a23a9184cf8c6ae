// The input lines of a subcommand: arguments, a file, or standard input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/corpus/readers/line_reader.h"

namespace heed::cli {

class SourceLines {
 public:
  /// The lines of `texts` if there are any, else of the file `input`, else ("" or "-") of standard input.
  /// Throws kUsage for both texts and a file, or for a part of texts; kText, kNotFound or kFile.
  SourceLines(const std::vector<std::string>& texts, const std::string& input,
              const LineReaderOptions& options);

  /// Throws the errors of LineReader::next().
  bool next(std::string& line);
  /// Skips up to `count` lines.
  void skip(uint64_t count);
  /// The number of lines of the whole input before the next one. See LineReader::line_number() for parts.
  uint64_t lines_before() const { return reader_ ? reader_->line_number() : given_; }
  /// Whether next() returns without waiting for more input.
  bool ready() const { return !reader_ || reader_->ready(); }
  /// Whether next() has returned false.
  bool at_end() const { return at_end_; }

  /// The lines that are available now, at most `most`: interactive input is answered line by line. None at
  /// the end.
  std::vector<std::string> take(size_t most);

  bool from_terminal() const;
  /// Of all that was read, once next() has returned false; none for arguments.
  std::optional<uint64_t> fingerprint() const {
    return reader_ ? std::optional(reader_->fingerprint().value()) : std::nullopt;
  }
  /// The total number of lines, including skipped ones; 0 if unknown before reading them.
  uint64_t count() const;
  /// The number of bytes that are not read yet, including line ends; 0 if unknown before reading them.
  uint64_t bytes() const;

 private:
  std::vector<std::string> lines_;  // from the arguments
  size_t given_ = 0;
  std::string path_;
  LineReaderOptions options_;
  std::optional<LineReader> reader_;
  bool at_end_ = false;
};

}  // namespace heed::cli
