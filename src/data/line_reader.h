// Lines of text from a file of any size: the ground under every reader of this folder, and by itself the
// reader of plain text, one sentence or paragraph per line.
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
  /// Replace what is not UTF-8, and NUL bytes, by U+FFFD instead of refusing the file.
  bool lossy = false;
  bool keep_byte_order_mark = false;  ///< as the first character of the first line
  /// A line with more bytes than this means that the file is not text; it bounds the memory of the reader.
  size_t max_line_bytes = size_t{64} << 20;
  /// Reading a line throws Stopped where this is requested.
  Stop stop = {};
};

/// Streams a file line by line. A line ends in LF or at the end of the file; one CR at its end is dropped,
/// and so is a byte order mark at the start of the file. "-" is standard input.
class LineReader {
 public:
  /// Throws kNotFound or kFile.
  explicit LineReader(const std::string& path, LineReaderOptions options = {});

  /// Sets `line` to the next line, without its end, valid until the next call; false at the end of the file.
  /// Throws kText for text that is not UTF-8, kFormat for a NUL byte or an endless line, kFile if reading
  /// fails, each with the number of the line.
  bool next(std::string_view& line);
  /// Whether next() returns at once. False only for a terminal or a pipe from which nothing has come since,
  /// so that whoever collects lines can deal with those there are.
  bool ready() const;
  /// Reads to the end without looking at the text and returns how many lines the file has.
  uint64_t count_remaining();

  /// The number of the line read last, from 1; 0 before the first.
  uint64_t line_number() const { return line_number_; }
  /// The file as messages name it: quoted, or "standard input".
  const std::string& name() const { return name_; }
  /// Of all bytes read so far; of the whole file once next() has returned false.
  const Fingerprint& fingerprint() const { return fingerprint_; }

 private:
  bool next_raw(std::string_view& line);
  bool refill();

  std::string name_;
  LineReaderOptions options_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // the bytes of buffer_ that are read from the file and not yet given out
  uint64_t line_number_ = 0;
  bool at_end_ = false;
  std::string replaced_;
  Fingerprint fingerprint_;
};

}  // namespace heed
