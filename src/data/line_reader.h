// Reads lines from a text file of any size; the basis of all readers in this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fingerprint.h"
#include "base/stop.h"

namespace heed {

struct LineReaderOptions {
  /// Replace invalid UTF-8 and NUL bytes by U+FFFD instead of failing.
  bool lossy = false;
  bool keep_byte_order_mark = false;  ///< as the first character of the first line

  /// Maximum line length, which bounds the memory of the reader.
  size_t max_line_bytes = size_t{64} << 20;
  /// Reading throws Stopped if requested.
  Stop stop = {};
};

/// Streams a file line by line. A line ends with LF or at the end of the file. A CR before the LF and a byte
/// order mark at the beginning of the file are removed. "-" is standard input.
class LineReader {
 public:
  /// Throws kNotFound or kFile.
  explicit LineReader(const std::string& path, LineReaderOptions options = {});

  /// Reads the next line without its line end; the view is valid until the next call. False at the end of
  /// the file.
  /// Throws, with the line number, kText for invalid UTF-8, kFormat for a NUL byte or a line that is too
  /// long, kFile if reading fails.
  bool next(std::string_view& line);
  /// Whether next() returns without blocking. False only for a terminal or a pipe without new data.
  bool ready() const;
  /// Skips to the end and returns the number of remaining lines.
  uint64_t count_remaining();

  /// The number of the last line, from 1; 0 before the first.
  uint64_t line_number() const { return line_number_; }
  /// The name for messages: the quoted path, or "standard input".
  const std::string& name() const { return name_; }
  /// Hash of all bytes read so far; of the whole file once next() has returned false.
  const Fingerprint& fingerprint() const { return fingerprint_; }

 private:
  bool next_raw(std::string_view& line);
  bool refill();

  std::string name_;
  LineReaderOptions options_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // unconsumed bytes of buffer_
  uint64_t line_number_ = 0;
  bool at_end_ = false;
  std::string replaced_;
  Fingerprint fingerprint_;
};

}  // namespace heed
