// Reads lines from a text file of any size, compressed or not; the basis of all readers in this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fingerprint.h"
#include "base/stop.h"
#include "data/corpus/readers/byte_source.h"

namespace heed {

/// One of `count` contiguous parts of a file, numbered from 1. Parts have about the same number of bytes; a
/// line belongs to the part in which its first byte lies. Together, in order, they are the file.
struct FilePart {
  int number = 1, count = 1;
  bool is_whole() const { return count == 1; }
  /// The part of `total` units that are numbered from 0: [begin(total), end(total)).
  uint64_t begin(uint64_t total) const { return boundary(number - 1, total); }
  uint64_t end(uint64_t total) const { return boundary(number, total); }

 private:
  /// total * n / count, without overflow.
  uint64_t boundary(int n, uint64_t total) const {
    const auto parts = static_cast<uint64_t>(count), whole = static_cast<uint64_t>(n);
    return total / parts * whole + total % parts * whole / parts;
  }
};

/// What is read of a file, in bytes after decompression: [begin, end) of `size`.
struct FileRange {
  uint64_t size = 0, begin = 0, end = 0;
  bool operator==(const FileRange&) const = default;
};

struct LineReaderOptions {
  /// Replace invalid UTF-8 and NUL bytes by U+FFFD instead of failing.
  bool lossy = false;
  bool keep_byte_order_mark = false;  ///< as the first character of the first line

  /// Maximum line length, which bounds the memory of the reader.
  size_t max_line_bytes = size_t{64} << 20;
  /// Reading throws Cancelled if requested.
  Stop stop = {};
  FilePart part = {};  ///< only of regular files
};

/// Streams a file line by line. A line ends with LF or at the end of the file. A CR before the LF and a byte
/// order mark at the beginning of the file are removed. "-" is standard input.
class LineReader {
 public:
  /// Throws kNotFound or kFile, and kUsage for a part of something else than a regular file.
  explicit LineReader(const std::string& path, LineReaderOptions options = {});

  /// Reads the next line without its line end; the view is valid until the next call. False at the end of
  /// the file.
  /// Throws, with the line number, kText for invalid UTF-8, kFormat for a NUL byte or a line that is too
  /// long, kFile if reading fails.
  bool next(std::string_view& line);
  /// Whether next() returns without blocking. False only for a terminal or a pipe without new data.
  bool ready() const;
  /// Skips up to `count` lines without looking at their text; returns the number skipped, which is less only
  /// at the end.
  uint64_t skip(uint64_t count);
  /// Skips all remaining lines and returns the number of lines of the file or part.
  uint64_t count_lines() {
    skip(std::numeric_limits<uint64_t>::max());
    return lines_read_;
  }

  /// The number of the last line in the file, from 1; 0 before the first. In a part of a file, the first call
  /// reads what is before the part.
  uint64_t line_number() const { return lines_before() + lines_read_; }
  /// Where the lines that were read or skipped so far lie. The size of the whole file is known for a part of
  /// it, or once next() has returned false.
  FileRange range() const { return {options_.part.is_whole() ? position_ : size_, part_begin_, position_}; }
  /// The name for messages: the quoted path, or "standard input".
  const std::string& name() const { return source_.name(); }
  /// Hash of the lines read or skipped so far, with their line ends; of the whole file or part once next()
  /// has returned false.
  const Fingerprint& fingerprint() const { return fingerprint_; }

 private:
  bool next_raw(std::string_view& line);
  bool take_raw(std::string_view& line);
  bool refill();
  void require_length(size_t bytes) const;
  void begin_part();
  uint64_t lines_before() const;

  std::string path_;
  LineReaderOptions options_;
  ByteSource source_;
  std::vector<char> buffer_;
  size_t begin_ = 0, end_ = 0;  // unconsumed bytes of buffer_
  uint64_t position_ = 0;       // of the next line in the file
  uint64_t size_ = 0;           // of the file, if this is a part
  uint64_t part_begin_ = 0, part_end_ = std::numeric_limits<uint64_t>::max();
  uint64_t lines_read_ = 0;
  mutable std::optional<uint64_t> lines_before_ = 0;  // lines before the part; none: not counted yet
  bool at_end_ = false;
  std::string replaced_;
  Fingerprint fingerprint_;
};

}  // namespace heed
